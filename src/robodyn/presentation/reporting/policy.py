"""Content security policy of a page: which styles, scripts and pictures may it have? Its own, none from elsewhere."""

import base64
import hashlib


def policy_of(style: str, script: str = "") -> str:
    """The element that says so, for the head of a page with one style and at most one script."""
    scripts = f"; script-src {_fingerprint(script)}" if script else ""
    rules = f"default-src 'none'; img-src data:; base-uri 'none'; form-action 'none'; style-src {_fingerprint(style)}"
    return f'<meta http-equiv="Content-Security-Policy" content="{rules}{scripts}">'


def _fingerprint(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
