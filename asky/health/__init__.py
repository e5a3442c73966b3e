"""Health checks of this installation. Rule: a check inspects and reports; it changes nothing unless a repair is
requested.
"""
