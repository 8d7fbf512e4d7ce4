//! Tests of whole tables.
