"""Imported first by the command: leaves out one import that takes as long as grading ten hand-ins.

jsonschema, if it finds rfc3987_syntax, loads it to check internationalised web addresses; that package builds a parser
on import, about two seconds. No notebook schema asks for such an address. `None` in sys.modules is Python's own way of
saying that a module is not there.
"""

import sys

sys.modules.setdefault("rfc3987_syntax", None)
