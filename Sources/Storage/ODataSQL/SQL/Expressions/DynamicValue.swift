import GRDB

/// A value within JSON whose type nobody declared: what it is, each row tells for itself.
indirect enum DynamicValue {
    /// What names lead to within a JSON object.
    case member(of: SQLFragment, path: [String])
    /// A member of an array that `json_each` goes through, by the alias of its rows.
    case element(alias: String)
    /// A value alone, which another statement has taken out of its JSON: SQLite's own types are all that is known of it.
    case plain(SQLFragment)

    /// The value: objects and arrays as text, what is true and false as 1 and 0.
    var value: SQLFragment {
        switch self {
        case .member(let document, let path):
            "json_extract(\(document), \(bind: SQLFragment.jsonPath(path).databaseValue))"
        case .element(let alias): "\(column: "value", of: alias)"
        case .plain(let sql): sql
        }
    }

    /// The name of the value's type as `json_type` has it; NULL where there is none.
    var kind: SQLFragment {
        switch self {
        case .member(let document, let path):
            "json_type(\(document), \(bind: SQLFragment.jsonPath(path).databaseValue))"
        case .element(let alias): "\(column: "type", of: alias)"
        case .plain(let sql): "typeof(\(sql))"
        }
    }

    /// A number for what has an order among itself: numbers, texts, what is true or false; NULL for everything else.
    var order: SQLFragment {
        """
        CASE \(kind) WHEN 'integer' THEN 1 WHEN 'real' THEN 1 WHEN 'text' THEN 2 WHEN 'true' THEN 3 WHEN 'false' THEN 3 \
        END
        """
    }

    /// What is true or false as 1 and 0; NULL for everything else.
    var flag: SQLFragment {
        if case .plain(let sql) = self { return "CASE WHEN \(sql) IN (0, 1) THEN \(sql) END" }
        return "CASE \(kind) WHEN 'true' THEN 1 WHEN 'false' THEN 0 END"
    }

    /// A text; NULL for everything else.
    var text: SQLFragment { "CASE WHEN \(kind) = 'text' THEN \(value) END" }

    /// The value as JSON, which a column of an answer has; NULL where it is null or there is none.
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

    /// A member of the value, which is nothing where that is no object.
    func member(_ name: String) -> DynamicValue {
        switch self {
        case .member(let document, let path): .member(of: document, path: path + [name])
        case .element: .member(of: "CASE WHEN \(kind) = 'object' THEN \(value) END", path: [name])
        case .plain(let sql): .member(of: "CASE WHEN json_valid(\(sql)) THEN \(sql) END", path: [name])
        }
    }
}
