extension SQLFragment {
    /// Returns the string form of a column of any storage class, without a collation.
    package static func anyText(of column: SQLFragment) -> SQLFragment {
        """
        (CASE typeof(\(column)) WHEN 'text' THEN \(column) WHEN 'integer' THEN CAST(\(column) AS TEXT) \
        WHEN 'null' THEN NULL ELSE outpost_any_text(\(column)) END)
        """
    }

    /// Returns the condition that the string form of a column equals a text. An index on the column can find the
    /// three possible values.
    ///
    /// - Parameters:
    ///   - column: the column, of any storage class.
    ///   - text: the text, which occurs several times in the condition.
    package static func column(_ column: SQLFragment, isServedAs text: SQLFragment) -> SQLFragment {
        """
        (\(column) IN (\(text), outpost_number_served_as(\(text)), outpost_text_bytes(\(text))) \
        AND \(anyText(of: column)) = \(text) COLLATE BINARY)
        """
    }

    /// Returns the condition that the columns of a pair are equal.
    ///
    /// - Parameters:
    ///   - target: the column for which an index can be used.
    ///   - source: the other value, in the form of ``related(_:_:)``.
    package static func areEqual(
        _ target: SQLFragment, _ source: SQLFragment, comparison: NavigationStorage.ColumnPair.Comparison
    ) -> SQLFragment {
        switch comparison {
        case .stored: "\(target) = \(source)"
        case .bytes: "\(target) = \(source) AND \(target) = \(source) COLLATE BINARY"
        case .text: column(target, isServedAs: source)
        }
    }

    /// Returns the value of a column in the form that ``areEqual(_:_:comparison:)`` requires.
    package static func related(_ column: SQLFragment, _ comparison: NavigationStorage.ColumnPair.Comparison)
        -> SQLFragment
    {
        comparison == .text ? anyText(of: column) : column
    }
}
