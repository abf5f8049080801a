"""The requests and answers of the HTTP service: one description that the server and the clients share.

`endpoints` has the table, `requests` the bodies of requests, `fields` a sentence on each of their fields, `answers` the
answers, and `parts` the parts of an answer that each right shows. A field of a request or an answer is named here, and
in the code that fills or reads it.
"""
