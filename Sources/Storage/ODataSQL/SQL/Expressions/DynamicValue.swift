import GRDB

/// A value within JSON without a declared type, whose type may differ in each row.
indirect enum DynamicValue {
    /// A member of a JSON object, by its path.
    case member(of: SQLFragment, path: [String])
    /// A member of an array in `json_each`, by the alias of its rows.
    case element(alias: String)
    /// A value that another statement has extracted from JSON, of which only SQLite's type is known.
    case plain(SQLFragment)

    /// The value: objects and arrays as text, booleans as 1 and 0.
    var value: SQLFragment {
        switch self {
        case .member(let document, let path):
            "json_extract(\(document), \(bind: SQLFragment.jsonPath(path).databaseValue))"
        case .element(let alias): "\(column: "value", of: alias)"
        case .plain(let sql): sql
        }
    }

    /// The name of the value's type as returned by `json_type`; NULL if there is no value.
    var kind: SQLFragment {
        switch self {
        case .member(let document, let path):
            "json_type(\(document), \(bind: SQLFragment.jsonPath(path).databaseValue))"
        case .element(let alias): "\(column: "type", of: alias)"
        case .plain(let sql): "typeof(\(sql))"
        }
    }

    /// A number for the kinds of values that can be ordered: numbers, texts and booleans; NULL for other values.
    var order: SQLFragment {
        """
        CASE \(kind) WHEN 'integer' THEN 1 WHEN 'real' THEN 1 WHEN 'text' THEN 2 WHEN 'true' THEN 3 WHEN 'false' THEN 3 \
        END
        """
    }

    /// A boolean as 1 or 0; NULL for other values.
    var flag: SQLFragment {
        if case .plain(let sql) = self { return "CASE WHEN \(sql) IN (0, 1) THEN \(sql) END" }
        return "CASE \(kind) WHEN 'true' THEN 1 WHEN 'false' THEN 0 END"
    }

    /// A text; NULL for other values.
    var text: SQLFragment { "CASE WHEN \(kind) = 'text' THEN \(value) END" }

    /// The value as JSON, for a column of the response; NULL if it is null or missing.
    var json: SQLFragment {
        switch self {
        case .member(let document, let path):
            "nullif((\(document)) -> \(bind: SQLFragment.jsonPath(path).databaseValue), 'null')"
        case .element(let alias):
            "nullif(\(column: "json", of: alias) -> \(column: "fullkey", of: alias), 'null')"
        case .plain:
            """
            nullif(CASE WHEN \(value) GLOB '[[{]*' AND json_valid(\(value)) THEN \(value) \
            WHEN typeof(\(value)) = 'real' THEN outpost_real_text(\(value)) ELSE json_quote(\(value)) END, 'null')
            """
        }
    }

    /// Returns a member of the value; NULL if the value is not an object.
    func member(_ name: String) -> DynamicValue {
        switch self {
        case .member(let document, let path): .member(of: document, path: path + [name])
        case .element: .member(of: "CASE WHEN \(kind) = 'object' THEN \(value) END", path: [name])
        case .plain(let sql): .member(of: "CASE WHEN json_valid(\(sql)) THEN \(sql) END", path: [name])
        }
    }
}
