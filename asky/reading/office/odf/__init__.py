"""OpenDocument (ISO/IEC 26300, ODF 1.3): texts, sheets and slides from their XML."""
