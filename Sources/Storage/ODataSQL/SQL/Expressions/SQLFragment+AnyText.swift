extension SQLFragment {
    /// The text that the value of a column is served as, whatever its storage class. It has no collation.
    package static func anyText(of column: SQLFragment) -> SQLFragment {
        """
        (CASE typeof(\(column)) WHEN 'text' THEN \(column) WHEN 'integer' THEN CAST(\(column) AS TEXT) \
        WHEN 'null' THEN NULL ELSE outpost_any_text(\(column)) END)
        """
    }

    /// The condition that a column holds a value which is served as a text. An index on the column finds the three values
    /// that can be.
    ///
    /// - Parameters:
    ///   - column: the column, of any storage class.
    ///   - text: the text, which stands in the condition several times.
    package static func column(_ column: SQLFragment, isServedAs text: SQLFragment) -> SQLFragment {
        """
        (\(column) IN (\(text), outpost_number_served_as(\(text)), outpost_text_bytes(\(text))) \
        AND \(anyText(of: column)) = \(text) COLLATE BINARY)
        """
    }

    /// The condition that the value of one column of a pair equals that of the other.
    ///
    /// - Parameters:
    ///   - target: the column that an index may find.
    ///   - source: the other value as ``related(_:_:)`` gives it.
    package static func areEqual(
        _ target: SQLFragment, _ source: SQLFragment, comparison: NavigationStorage.ColumnPair.Comparison
    ) -> SQLFragment {
        switch comparison {
        case .stored: "\(target) = \(source)"
        case .bytes: "\(target) = \(source) AND \(target) = \(source) COLLATE BINARY"
        case .text: column(target, isServedAs: source)
        }
    }

    /// The value of a column in the form in which ``areEqual(_:_:comparison:)`` takes it.
    package static func related(_ column: SQLFragment, _ comparison: NavigationStorage.ColumnPair.Comparison)
        -> SQLFragment
    {
        comparison == .text ? anyText(of: column) : column
    }
}
