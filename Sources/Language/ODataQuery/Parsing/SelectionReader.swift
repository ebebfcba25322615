import ODataModel

extension Selection {
    /// Reads the JSON form of a query.
    ///
    /// ```json
    /// {"from": {"set": "Customers", "as": "c"},
    ///  "join": [{"set": "SalesOrders", "as": "o",
    ///            "on": {"attribute": "o.CustomerID", "test": "equal", "value": {"attribute": "c.ID"}}}],
    ///  "where": {"attribute": "c.Region", "test": "in", "value": ["North", "West"]},
    ///  "groupBy": ["c.City"],
    ///  "having": {"left": {"aggregate": "sum", "of": "o.Amount"}, "test": "greaterThan", "value": 1000},
    ///  "select": ["c.City", {"value": {"aggregate": "sum", "of": "o.Amount"}, "as": "total"}],
    ///  "orderBy": [{"column": "total", "descending": true}], "take": 10}
    /// ```
    ///
    /// Names of members are case-sensitive, and an unknown member is an error. A JSON number with a fraction is an
    /// `Edm.Decimal`. `{"type": "Edm.Date", "constant": "2026-01-31"}` is a constant with its type.
    ///
    /// - Parameter json: the text in UTF-8, at most ``SelectionLimits/maxLength`` bytes.
    /// - Throws: ``SelectionError`` of the kind `syntax` or `limit` with the place of the fault.
    public init(json: [UInt8]) throws(SelectionError) {
        guard json.count <= SelectionLimits.maxLength else { throw SelectionError(.limit("maxLength"), at: "") }
        self = try JSONScanner.scan(json) { scanner throws(SelectionError) in
            var reader = SelectionReader()
            let selection = try reader.selection(&scanner, at: "")
            try SelectionReader.json(at: "") { () throws(JSONError) in try scanner.expectEnd() }
            return selection
        }
    }
}

/// A reader of the JSON form of a query.
struct SelectionReader {
    private var depth = 0
    private var nodes = 0

    /// Translates an error of the JSON text.
    static func json<Value>(at place: String, _ body: () throws(JSONError) -> Value) throws(SelectionError) -> Value {
        do throws(JSONError) {
            return try body()
        } catch {
            throw SelectionError(.syntax("\(error)"), at: place)
        }
    }

    private func fault(_ message: String, at place: String) -> SelectionError {
        SelectionError(.syntax(message), at: place)
    }

    private mutating func enter(at place: String) throws(SelectionError) {
        depth += 1
        nodes += 1
        guard depth <= 2 * SelectionLimits.maxDepth else { throw SelectionError(.limit("maxDepth"), at: place) }
        guard nodes <= SelectionLimits.maxNodes else { throw SelectionError(.limit("maxNodes"), at: place) }
    }

    private mutating func leave() { depth -= 1 }

    // MARK: Structure

    /// Reads an object, whose members a closure reads by their names.
    private mutating func object(
        _ scanner: inout JSONScanner, at place: String, members: [String],
        _ read: (inout SelectionReader, inout JSONScanner, String) throws(SelectionError) -> Void
    ) throws(SelectionError) {
        try enter(at: place)
        try Self.json(at: place) { () throws(JSONError) in try scanner.beginObject() }
        var seen: Set<String> = []
        while let name = try Self.json(at: place, { () throws(JSONError) in try scanner.nextKey()?.string }) {
            guard members.contains(name) else {
                throw SelectionError(
                    .syntax("There is no member \(name) here."), at: place,
                    suggestions: nearest(to: name, among: members))
            }
            guard seen.insert(name).inserted else { throw fault("The member \(name) stands twice.", at: place) }
            try read(&self, &scanner, name)
        }
        leave()
    }

    private mutating func array<Element>(
        _ scanner: inout JSONScanner, at place: String,
        _ read: (inout SelectionReader, inout JSONScanner, String) throws(SelectionError) -> Element
    ) throws(SelectionError) -> [Element] {
        try enter(at: place)
        try Self.json(at: place) { () throws(JSONError) in try scanner.beginArray() }
        var result: [Element] = []
        while try Self.json(at: place, { () throws(JSONError) in try scanner.nextElement() }) {
            result.append(try read(&self, &scanner, place.member(result.count)))
        }
        leave()
        return result
    }

    private func kind(_ scanner: inout JSONScanner, at place: String) throws(SelectionError) -> JSONScanner.Kind {
        try Self.json(at: place) { () throws(JSONError) in try scanner.peekKind() }
    }

    private func text(_ scanner: inout JSONScanner, at place: String) throws(SelectionError) -> String {
        try Self.json(at: place) { () throws(JSONError) in try scanner.readString() }
    }

    private func flag(_ scanner: inout JSONScanner, at place: String) throws(SelectionError) -> Bool {
        try Self.json(at: place) { () throws(JSONError) in try scanner.readBoolean() }
    }

    private func count(_ scanner: inout JSONScanner, at place: String) throws(SelectionError) -> Int {
        let number = try Self.json(at: place) { () throws(JSONError) in try scanner.readInt64() }
        guard let count = Int(exactly: number) else { throw fault("The number is too great.", at: place) }
        return count
    }

    private func word<Word: RawRepresentable & CaseIterable>(
        _ type: Word.Type, _ scanner: inout JSONScanner, at place: String
    ) throws(SelectionError) -> Word where Word.RawValue == String {
        let name = try text(&scanner, at: place)
        guard let word = Word(rawValue: name) else {
            throw SelectionError(
                .syntax("\u{201C}\(name)\u{201D} has no meaning here."), at: place,
                suggestions: nearest(to: name, among: Word.allCases.map(\.rawValue)))
        }
        return word
    }

    // MARK: Queries

    mutating func selection(_ scanner: inout JSONScanner, at place: String) throws(SelectionError) -> Selection {
        var result = Selection(.init(.entities(""), as: ""))
        var first: Selection.Source?
        var joined: [Selection.Source] = []
        try object(
            &scanner, at: place,
            members: [
                "from", "join", "where", "groupBy", "having", "select", "distinct", "combine", "orderBy", "skip",
                "take",
            ]
        ) { reader, scanner, name throws(SelectionError) in
            let place = place.member(name)
            switch name {
            case "from": first = try reader.source(&scanner, at: place)
            case "join": joined = try reader.array(&scanner, at: place, Self.source)
            case "where": result.test = try reader.test(&scanner, at: place)
            case "groupBy": result.groups = try reader.array(&scanner, at: place, Self.attribute)
            case "having": result.having = try reader.test(&scanner, at: place)
            case "select": result.columns = try reader.array(&scanner, at: place, Self.column)
            case "distinct": result.isDistinct = try reader.flag(&scanner, at: place)
            case "combine": result.combinations = try reader.array(&scanner, at: place, Self.combination)
            case "orderBy": result.order = try reader.array(&scanner, at: place, Self.order)
            case "skip": result.skip = try reader.count(&scanner, at: place)
            default: result.take = try reader.count(&scanner, at: place)
            }
        }
        guard let first else { throw fault("A query needs the member from.", at: place) }
        result.sources = [first] + joined
        return result
    }

    private static func source(
        _ reader: inout SelectionReader, _ scanner: inout JSONScanner, at place: String
    ) throws(SelectionError) -> Selection.Source { try reader.source(&scanner, at: place) }

    private mutating func source(_ scanner: inout JSONScanner, at place: String) throws(SelectionError)
        -> Selection.Source
    {
        var rows: [Selection.Source.Rows] = []
        var alias: String?
        var condition: QueryTest?
        try object(&scanner, at: place, members: ["set", "query", "as", "on"]) {
            reader, scanner, name throws(SelectionError) in
            let place = place.member(name)
            switch name {
            case "set": rows.append(.entities(try reader.text(&scanner, at: place)))
            case "query": rows.append(.selection(try reader.selection(&scanner, at: place)))
            case "as": alias = try reader.text(&scanner, at: place)
            default: condition = try reader.test(&scanner, at: place)
            }
        }
        guard rows.count == 1 else { throw fault("A source needs one of set and query.", at: place) }
        guard let alias else { throw fault("A source needs an alias in as.", at: place) }
        return Selection.Source(rows[0], as: alias, on: condition)
    }

    private static func attribute(
        _ reader: inout SelectionReader, _ scanner: inout JSONScanner, at place: String
    ) throws(SelectionError) -> QueryAttribute { QueryAttribute(try reader.text(&scanner, at: place)) }

    private static func column(
        _ reader: inout SelectionReader, _ scanner: inout JSONScanner, at place: String
    ) throws(SelectionError) -> Selection.Column {
        if try reader.kind(&scanner, at: place) == .string {
            return Selection.Column(.attribute(QueryAttribute(try reader.text(&scanner, at: place))))
        }
        var operand: QueryOperand?
        var column: String?
        try reader.object(&scanner, at: place, members: ["value", "as"]) {
            reader, scanner, name throws(SelectionError) in
            let place = place.member(name)
            if name == "as" {
                column = try reader.text(&scanner, at: place)
            } else {
                operand = try reader.operand(&scanner, at: place)
            }
        }
        guard let operand else { throw reader.fault("A column needs a value.", at: place) }
        return Selection.Column(operand, as: column)
    }

    private static func combination(
        _ reader: inout SelectionReader, _ scanner: inout JSONScanner, at place: String
    ) throws(SelectionError) -> Selection.Combination {
        var symbol: Selection.Combination.Operator?
        var selection: Selection?
        try reader.object(&scanner, at: place, members: ["operator", "query"]) {
            reader, scanner, name throws(SelectionError) in
            let place = place.member(name)
            if name == "operator" {
                symbol = try reader.word(Selection.Combination.Operator.self, &scanner, at: place)
            } else {
                selection = try reader.selection(&scanner, at: place)
            }
        }
        guard let symbol, let selection else {
            throw reader.fault("A combination needs an operator and a query.", at: place)
        }
        return Selection.Combination(symbol, selection)
    }

    private static func order(
        _ reader: inout SelectionReader, _ scanner: inout JSONScanner, at place: String
    ) throws(SelectionError) -> Selection.Order {
        if try reader.kind(&scanner, at: place) == .string {
            return Selection.Order(.column(try reader.text(&scanner, at: place)))
        }
        var keys: [Selection.Order.Key] = []
        var isDescending = false
        try reader.object(&scanner, at: place, members: ["column", "value", "descending"]) {
            reader, scanner, name throws(SelectionError) in
            let place = place.member(name)
            switch name {
            case "column": keys.append(.column(try reader.text(&scanner, at: place)))
            case "value": keys.append(.operand(try reader.operand(&scanner, at: place)))
            default: isDescending = try reader.flag(&scanner, at: place)
            }
        }
        guard keys.count == 1 else { throw reader.fault("An order needs one of column and value.", at: place) }
        return Selection.Order(keys[0], isDescending: isDescending)
    }

    // MARK: Tests

    private mutating func test(_ scanner: inout JSONScanner, at place: String) throws(SelectionError) -> QueryTest {
        var tests: [QueryTest] = []
        var left: [QueryOperand] = []
        var symbol: QueryOperator?
        var right: QueryOperand?
        var state: String?
        var alias: String?
        try object(
            &scanner, at: place,
            members: ["attribute", "left", "test", "value", "all", "any", "not", "state", "of"]
        ) { reader, scanner, name throws(SelectionError) in
            let place = place.member(name)
            switch name {
            case "attribute": left.append(.attribute(QueryAttribute(try reader.text(&scanner, at: place))))
            case "left": left.append(try reader.operand(&scanner, at: place))
            case "test": symbol = try reader.word(QueryOperator.self, &scanner, at: place)
            case "value": right = try reader.operand(&scanner, at: place)
            case "all": tests.append(.all(try reader.array(&scanner, at: place, Self.test)))
            case "any": tests.append(.any(try reader.array(&scanner, at: place, Self.test)))
            case "not": tests.append(.not(try reader.test(&scanner, at: place)))
            case "state": state = try reader.text(&scanner, at: place)
            default: alias = try reader.text(&scanner, at: place)
            }
        }
        if let symbol { tests.append(.test(left.first, symbol, right)) }
        if let state { tests.append(.state(state, of: alias)) }
        let isWhole = (symbol != nil || left.isEmpty && right == nil) && (state != nil || alias == nil)
        guard tests.count == 1, left.count <= 1, isWhole else {
            throw fault("A test needs one of test, all, any, not and state, with its own members alone.", at: place)
        }
        return tests[0]
    }

    private static func test(
        _ reader: inout SelectionReader, _ scanner: inout JSONScanner, at place: String
    ) throws(SelectionError) -> QueryTest { try reader.test(&scanner, at: place) }

    // MARK: Values

    private mutating func operand(_ scanner: inout JSONScanner, at place: String) throws(SelectionError)
        -> QueryOperand
    {
        switch try kind(&scanner, at: place) {
        case .array:
            return .list(try array(&scanner, at: place, Self.constant))
        case .object:
            let object = try self.members(&scanner, at: place)
            return try operand(object, at: place)
        default: return .value(try scalar(&scanner, at: place))
        }
    }

    /// The members of an operand or a constant.
    private struct Members {
        var attribute: QueryAttribute?
        var aggregate: QueryAggregate?
        var of: QueryAttribute?
        var selection: Selection?
        var type: String?
        var constant: String?
        var enumeration: Int64?
    }

    private mutating func members(_ scanner: inout JSONScanner, at place: String) throws(SelectionError) -> Members {
        var members = Members()
        try object(
            &scanner, at: place,
            members: ["attribute", "aggregate", "of", "query", "type", "constant", "enumeration"]
        ) { reader, scanner, name throws(SelectionError) in
            let place = place.member(name)
            switch name {
            case "attribute": members.attribute = QueryAttribute(try reader.text(&scanner, at: place))
            case "aggregate": members.aggregate = try reader.word(QueryAggregate.self, &scanner, at: place)
            case "of": members.of = QueryAttribute(try reader.text(&scanner, at: place))
            case "query": members.selection = try reader.selection(&scanner, at: place)
            case "type": members.type = try reader.text(&scanner, at: place)
            case "constant": members.constant = try reader.text(&scanner, at: place)
            default:
                members.enumeration = try Self.json(at: place) { () throws(JSONError) in try scanner.readInt64() }
            }
        }
        return members
    }

    private func operand(_ members: Members, at place: String) throws(SelectionError) -> QueryOperand {
        var found: [QueryOperand] = []
        if let attribute = members.attribute { found.append(.attribute(attribute)) }
        if let aggregate = members.aggregate { found.append(.aggregate(aggregate, of: members.of)) }
        if let selection = members.selection { found.append(.selection(selection)) }
        if let constant = try constant(members, at: place) { found.append(.value(constant)) }
        guard found.count == 1, members.aggregate != nil || members.of == nil else {
            throw fault("A value needs one of attribute, aggregate, query, constant and enumeration.", at: place)
        }
        return found[0]
    }

    private func constant(_ members: Members, at place: String) throws(SelectionError) -> ODataValue? {
        if let number = members.enumeration {
            guard members.type == nil, members.constant == nil else {
                throw fault("An enumeration value has no other members.", at: place)
            }
            return .enumeration(number)
        }
        guard members.type != nil || members.constant != nil else { return nil }
        guard let type = members.type, let text = members.constant else {
            throw fault("A constant needs its type and its text.", at: place)
        }
        guard let primitive = PrimitiveType(rawValue: type), primitive != .stream else {
            throw SelectionError(
                .syntax("\(type) is no primitive type."), at: place.member("type"),
                suggestions: nearest(to: type, among: PrimitiveType.allCases.map(\.rawValue)))
        }
        guard let value = try? ODataValue(lexical: text, type: primitive) else {
            throw SelectionError(.invalidType(text, expected: type), at: place.member("constant"))
        }
        return value
    }

    private static func constant(
        _ reader: inout SelectionReader, _ scanner: inout JSONScanner, at place: String
    ) throws(SelectionError) -> ODataValue {
        guard try reader.kind(&scanner, at: place) == .object else { return try reader.scalar(&scanner, at: place) }
        let members = try reader.members(&scanner, at: place)
        guard case .value(let value) = try reader.operand(members, at: place) else {
            throw reader.fault("A list has constants only.", at: place)
        }
        return value
    }

    private mutating func scalar(_ scanner: inout JSONScanner, at place: String) throws(SelectionError) -> ODataValue {
        nodes += 1
        guard nodes <= SelectionLimits.maxNodes else { throw SelectionError(.limit("maxNodes"), at: place) }
        switch try kind(&scanner, at: place) {
        case .string: return .string(try text(&scanner, at: place))
        case .boolean: return .boolean(try flag(&scanner, at: place))
        case .null:
            try Self.json(at: place) { () throws(JSONError) in try scanner.readNull() }
            return .null
        case .number:
            let range = try Self.json(at: place) { () throws(JSONError) in try scanner.skipValue() }
            let text = scanner.rawText(range)
            if let number = Int64(text) { return .integer(number) }
            if let number = ODataDecimal(text) { return .decimal(number) }
            guard let number = Double(text), number.isFinite else {
                throw fault("The number \(text) is too great.", at: place)
            }
            return .double(number)
        case .object, .array: throw fault("A single value was expected.", at: place)
        }
    }
}
