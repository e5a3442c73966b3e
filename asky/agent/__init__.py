"""The research agent: decides what to look up next, until the evidence is saturated or a budget ends it.

Rule: gathering, synthesis, verification and the record of a run are the shared ones; LangGraph is imported here alone.
"""
