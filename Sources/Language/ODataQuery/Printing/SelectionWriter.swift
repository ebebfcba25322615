import ODataModel

extension Selection {
    /// Returns the JSON form, from which ``init(json:)`` reads an equal query.
    ///
    /// - Throws: ``SelectionError`` of the kind `misplaced` for a complex value or a collection.
    public func json() throws(SelectionError) -> [UInt8] {
        var writer = SelectionWriter()
        try writer.write(self, at: "")
        return writer.json.bytes
    }
}

/// A writer of the JSON form of a query.
struct SelectionWriter {
    var json = JSONWriter()

    private mutating func array<Item>(
        _ name: String, _ items: [Item], at place: String,
        by write: (inout SelectionWriter, Item, String) throws(SelectionError) -> Void
    ) throws(SelectionError) {
        json.key(name)
        json.beginArray()
        for (index, item) in items.enumerated() { try write(&self, item, place.member(name, index)) }
        json.endArray()
    }

    mutating func write(_ selection: Selection, at place: String) throws(SelectionError) {
        json.beginObject()
        guard let first = selection.sources.first else {
            throw SelectionError(.misplaced("A query needs a source."), at: place)
        }
        json.key("from")
        try write(first, at: place.member("from"))
        if selection.sources.count > 1 {
            try array("join", Array(selection.sources.dropFirst()), at: place) {
                writer, source, place throws(SelectionError) in
                try writer.write(source, at: place)
            }
        }
        if let test = selection.test {
            json.key("where")
            try write(test, at: place.member("where"))
        }
        if !selection.groups.isEmpty {
            try array("groupBy", selection.groups, at: place) { writer, group, _ throws(SelectionError) in
                writer.json.string(group.description)
            }
        }
        if let having = selection.having {
            json.key("having")
            try write(having, at: place.member("having"))
        }
        if !selection.columns.isEmpty {
            try array("select", selection.columns, at: place) { writer, column, place throws(SelectionError) in
                try writer.write(column, at: place)
            }
        }
        if selection.isDistinct {
            json.key("distinct")
            json.boolean(true)
        }
        if !selection.combinations.isEmpty {
            try array("combine", selection.combinations, at: place) {
                writer, combination, place throws(SelectionError) in
                writer.json.beginObject()
                writer.json.key("operator")
                writer.json.string(combination.symbol.rawValue)
                writer.json.key("query")
                try writer.write(combination.selection, at: place.member("query"))
                writer.json.endObject()
            }
        }
        if !selection.order.isEmpty {
            try array("orderBy", selection.order, at: place) { writer, order, place throws(SelectionError) in
                try writer.write(order, at: place)
            }
        }
        for (name, count) in [("skip", selection.skip), ("take", selection.take)] {
            guard let count else { continue }
            json.key(name)
            json.integer(Int64(count))
        }
        json.endObject()
    }

    private mutating func write(_ source: Selection.Source, at place: String) throws(SelectionError) {
        json.beginObject()
        switch source.rows {
        case .entities(let name):
            json.key("set")
            json.string(name)
        case .selection(let selection):
            json.key("query")
            try write(selection, at: place.member("query"))
        }
        json.key("as")
        json.string(source.alias)
        if let condition = source.condition {
            json.key("on")
            try write(condition, at: place.member("on"))
        }
        json.endObject()
    }

    private mutating func write(_ column: Selection.Column, at place: String) throws(SelectionError) {
        if column.name == nil, case .attribute(let attribute) = column.operand {
            json.string(attribute.description)
            return
        }
        json.beginObject()
        json.key("value")
        try write(column.operand, at: place.member("value"))
        if let name = column.name {
            json.key("as")
            json.string(name)
        }
        json.endObject()
    }

    private mutating func write(_ order: Selection.Order, at place: String) throws(SelectionError) {
        json.beginObject()
        switch order.key {
        case .column(let name):
            json.key("column")
            json.string(name)
        case .operand(let operand):
            json.key("value")
            try write(operand, at: place.member("value"))
        }
        if order.isDescending {
            json.key("descending")
            json.boolean(true)
        }
        json.endObject()
    }

    // MARK: Tests

    private mutating func write(_ test: QueryTest, at place: String) throws(SelectionError) {
        json.beginObject()
        switch test {
        case .test(let left, let symbol, let right):
            if case .attribute(let attribute)? = left {
                json.key("attribute")
                json.string(attribute.description)
            } else if let left {
                json.key("left")
                try write(left, at: place.member("left"))
            }
            json.key("test")
            json.string(symbol.rawValue)
            if let right {
                json.key("value")
                try write(right, at: place.member("value"))
            }
        case .all(let tests): try write(tests, "all", at: place)
        case .any(let tests): try write(tests, "any", at: place)
        case .not(let test):
            json.key("not")
            try write(test, at: place.member("not"))
        case .state(let name, let alias):
            json.key("state")
            json.string(name)
            if let alias {
                json.key("of")
                json.string(alias)
            }
        }
        json.endObject()
    }

    private mutating func write(_ tests: [QueryTest], _ name: String, at place: String) throws(SelectionError) {
        try array(name, tests, at: place) { writer, test, place throws(SelectionError) in
            try writer.write(test, at: place)
        }
    }

    // MARK: Values

    private mutating func write(_ operand: QueryOperand, at place: String) throws(SelectionError) {
        switch operand {
        case .value(let value): try write(value, at: place)
        case .list(let values):
            json.beginArray()
            for (index, value) in values.enumerated() { try write(value, at: place.member(index)) }
            json.endArray()
        case .attribute(let attribute):
            json.beginObject()
            json.key("attribute")
            json.string(attribute.description)
            json.endObject()
        case .aggregate(let method, let attribute):
            json.beginObject()
            json.key("aggregate")
            json.string(method.rawValue)
            if let attribute {
                json.key("of")
                json.string(attribute.description)
            }
            json.endObject()
        case .selection(let selection):
            json.beginObject()
            json.key("query")
            try write(selection, at: place.member("query"))
            json.endObject()
        }
    }

    private mutating func write(_ value: ODataValue, at place: String) throws(SelectionError) {
        switch value {
        case .null: json.null()
        case .boolean(let value): json.boolean(value)
        case .integer(let value): json.integer(value)
        case .string(let value): json.string(value)
        case .enumeration(let number):
            json.beginObject()
            json.key("enumeration")
            json.integer(number)
            json.endObject()
        default:
            guard let type = value.primitiveType, let text = value.lexicalText else {
                throw SelectionError(.misplaced("Only a single value can be compared."), at: place)
            }
            json.beginObject()
            json.key("type")
            json.string(type.rawValue)
            json.key("constant")
            json.string(text)
            json.endObject()
        }
    }
}
