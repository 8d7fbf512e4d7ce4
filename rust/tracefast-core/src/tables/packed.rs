//! Optional numbers that take no more room than a number: tables keep many for each row.

use std::fmt;

/// A number, or nothing. One value of the type stands for nothing; a number of that value is kept
/// as the next one.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Packed<T>(T);

/// A type of numbers, one of which stands for nothing.
pub(crate) trait Niche: Copy + PartialEq {
    const NOTHING: Self;
    /// What is kept instead of it.
    const NEXT: Self;
}

impl Niche for i64 {
    const NOTHING: Self = Self::MIN;
    const NEXT: Self = Self::MIN + 1;
}

impl Niche for i32 {
    const NOTHING: Self = Self::MIN;
    const NEXT: Self = Self::MIN + 1;
}

impl Niche for u64 {
    const NOTHING: Self = Self::MAX;
    const NEXT: Self = Self::MAX - 1;
}

impl Niche for u32 {
    const NOTHING: Self = Self::MAX;
    const NEXT: Self = Self::MAX - 1;
}

impl<T: Niche> Packed<T> {
    pub(crate) fn get(self) -> Option<T> {
        (self.0 != T::NOTHING).then_some(self.0)
    }

    pub(crate) fn is_none(self) -> bool {
        self.0 == T::NOTHING
    }

    pub(crate) fn is_some(self) -> bool {
        self.0 != T::NOTHING
    }

    pub(crate) fn set(&mut self, value: impl Into<Self>) {
        *self = value.into();
    }

    /// Sets a number that was nothing.
    pub(crate) fn set_first(&mut self, value: impl Into<Self>) {
        if self.is_none() {
            *self = value.into();
        }
    }

    /// Sets the number, unless `value` is nothing.
    pub(crate) fn set_last(&mut self, value: impl Into<Self>) {
        let value = value.into();
        if value.is_some() {
            *self = value;
        }
    }
}

impl<T: Niche + Ord> Packed<T> {
    /// Keeps the larger number.
    pub(crate) fn raise(&mut self, value: impl Into<Self>) {
        *self = self.get().max(value.into().get()).into();
    }

    /// Keeps the smaller number.
    pub(crate) fn lower(&mut self, value: impl Into<Self>) {
        *self = match (self.get(), value.into().get()) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        }
        .into();
    }
}

impl<T: Niche> Default for Packed<T> {
    fn default() -> Self {
        Self(T::NOTHING)
    }
}

impl<T: Niche> From<T> for Packed<T> {
    fn from(value: T) -> Self {
        Self(if value == T::NOTHING { T::NEXT } else { value })
    }
}

impl<T: Niche> From<Option<T>> for Packed<T> {
    fn from(value: Option<T>) -> Self {
        value.map_or_else(Self::default, Self::from)
    }
}

impl<T: Niche + fmt::Debug> fmt::Debug for Packed<T> {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.get().fmt(to)
    }
}

#[cfg(test)]
mod tests {
    use super::Packed;

    #[test]
    fn a_number_is_what_was_set() {
        for value in [i64::MIN + 1, -1, 0, 1, i64::MAX] {
            assert_eq!(Packed::from(value).get(), Some(value));
        }
        assert_eq!(Packed::from(i64::MIN).get(), Some(i64::MIN + 1));
        assert_eq!(Packed::from(u32::MAX).get(), Some(u32::MAX - 1));
        assert_eq!(Packed::<u64>::from(None).get(), None);
    }

    #[test]
    fn nothing_is_less_and_more_than_no_number() {
        let mut number = Packed::<i64>::default();
        number.lower(None);
        assert!(number.is_none());
        number.lower(5);
        number.lower(None);
        number.raise(3);
        assert_eq!(number.get(), Some(5));
        number.lower(4);
        number.raise(None);
        assert_eq!(number.get(), Some(4));
        number.set_first(9);
        number.set_last(None);
        assert_eq!(number.get(), Some(4));
    }
}
