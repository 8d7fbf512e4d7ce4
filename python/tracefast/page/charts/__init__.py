"""The charts of a report, as Vega-Lite describes them, on rows whose number is bounded."""
