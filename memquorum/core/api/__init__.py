"""What the service is asked over HTTP and what it answers: the one description that the server and the clients share.

`endpoints` has the table, `requests` the bodies, `fields` what each of their fields is, `answers` what comes back, and
`parts` what of it each right shows. A field of a request or an answer is named here, and where it is filled or read.
"""
