import ODataModel

/// Something that stands for a value in a ``Selection``: an attribute, an operand, or a typed attribute of generated
/// code.
public protocol QueryOperandConvertible: Sendable {
    /// The value.
    var queryOperand: QueryOperand { get }
}

extension QueryOperand: QueryOperandConvertible {
    /// The operand itself.
    public var queryOperand: QueryOperand { self }
}

extension QueryAttribute: QueryOperandConvertible {
    /// The attribute as an operand.
    public var queryOperand: QueryOperand { .attribute(self) }
}

/// Building of queries. Every method returns a new value.
extension Selection {
    /// Returns a query over the entities of a set, or of a type that has one set.
    public static func from(_ entities: String, as alias: String) -> Selection {
        Selection(Source(.entities(entities), as: alias))
    }

    /// Returns a query over the result of another query.
    public static func from(_ selection: Selection, as alias: String) -> Selection {
        Selection(Source(.selection(selection), as: alias))
    }

    private func with(_ change: (inout Selection) -> Void) -> Selection {
        var result = self
        change(&result)
        return result
    }

    /// Joins the entities of a set, or of a type that has one set.
    public func join(_ entities: String, as alias: String, on condition: QueryTest? = nil) -> Selection {
        with { $0.sources.append(Source(.entities(entities), as: alias, on: condition)) }
    }

    /// Joins the result of another query.
    public func join(_ selection: Selection, as alias: String, on condition: QueryTest? = nil) -> Selection {
        with { $0.sources.append(Source(.selection(selection), as: alias, on: condition)) }
    }

    /// Adds a condition on the rows, with `and`.
    public func `where`(_ test: QueryTest) -> Selection {
        with { $0.test = $0.test.map { $0 && test } ?? test }
    }

    /// Adds attributes by which rows are grouped.
    public func groupBy(_ attributes: QueryAttribute...) -> Selection {
        with { $0.groups += attributes }
    }

    /// Adds a condition on the groups, with `and`.
    public func having(_ test: QueryTest) -> Selection {
        with { $0.having = $0.having.map { $0 && test } ?? test }
    }

    /// Adds columns to the result.
    public func select(_ columns: Column...) -> Selection {
        with { $0.columns += columns }
    }

    /// Returns equal rows of the result once.
    public func distinct() -> Selection { with { $0.isDistinct = true } }

    /// Adds an item of the order, less significant than those before it.
    public func orderBy(_ key: Order.Key, descending: Bool = false) -> Selection {
        with { $0.order.append(Order(key, isDescending: descending)) }
    }

    /// Leaves out rows at the start of the result.
    public func skip(_ count: Int) -> Selection { with { $0.skip = count } }

    /// Limits the number of rows.
    public func take(_ count: Int) -> Selection { with { $0.take = count } }

    /// Returns the rows of either query.
    public func union(_ other: Selection) -> Selection { combined(.union, other) }
    /// Returns the rows of both queries, each as often as it occurs.
    public func unionAll(_ other: Selection) -> Selection { combined(.unionAll, other) }
    /// Returns the rows of this query that the other one lacks.
    public func except(_ other: Selection) -> Selection { combined(.except, other) }
    /// Returns the rows that both queries have.
    public func intersect(_ other: Selection) -> Selection { combined(.intersect, other) }

    /// Combines with another query. An order and a range that were set before apply to this query alone.
    private func combined(_ symbol: Combination.Operator, _ other: Selection) -> Selection {
        guard !order.isEmpty || skip != nil || take != nil else {
            return with { $0.combinations.append(Combination(symbol, other)) }
        }
        return Selection.from(self, as: "first").with { whole in
            for column in columns {
                guard let name = column.resultName else { continue }
                whole.columns.append(Column(.attribute(QueryAttribute(alias: "first", path: [name])), as: name))
            }
            whole.combinations.append(Combination(symbol, other))
        }
    }

    /// The test that the query has rows.
    public var exists: QueryTest { .test(nil, .exists, .selection(self)) }
}

extension Selection.Column: ExpressibleByStringLiteral {
    /// The name in the result; `nil` for a value that needs a name and has none.
    var resultName: String? {
        if let name { return name }
        guard case .attribute(let attribute) = operand else { return nil }
        return attribute.path.last
    }

    /// Creates the column of an attribute, such as `c.City`.
    public init(stringLiteral value: String) { self.init(.attribute(QueryAttribute(value))) }

    /// Returns a column with a name, such as `.column(.sum("o.Amount"), as: "total")`.
    public static func column(_ operand: QueryOperand, as name: String? = nil) -> Selection.Column {
        Selection.Column(operand, as: name)
    }

    /// Returns a column with a name.
    public static func column(_ operand: some QueryOperandConvertible, as name: String? = nil) -> Selection.Column {
        Selection.Column(operand.queryOperand, as: name)
    }
}

extension Selection.Order.Key: ExpressibleByStringLiteral {
    /// Creates the key for a column of the result.
    public init(stringLiteral value: String) { self = .column(value) }
}

extension QueryOperand: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
    ExpressibleByBooleanLiteral, ExpressibleByNilLiteral, ExpressibleByArrayLiteral
{
    /// Creates a text. It is read as a value of the type with which it is compared.
    public init(stringLiteral value: String) { self = .value(.string(value)) }
    /// Creates an integer.
    public init(integerLiteral value: Int64) { self = .value(.integer(value)) }
    /// Creates a number with a fraction: a decimal if the shortest notation of the number is one, else a double.
    public init(floatLiteral value: Double) {
        self = .value(ODataDecimal(value.description).map(ODataValue.decimal) ?? .double(value))
    }
    /// Creates a Boolean value.
    public init(booleanLiteral value: Bool) { self = .value(.boolean(value)) }
    /// Creates null.
    public init(nilLiteral: ()) { self = .value(.null) }
    /// Creates a list of constants.
    public init(arrayLiteral elements: QueryConstant...) { self = .list(elements.map(\.value)) }

    /// Returns a constant.
    public static func constant(_ value: (some ODataValueConvertible)?) -> QueryOperand {
        .value(value?.odataValue ?? .null)
    }

    /// The number of rows of a group.
    public static var count: QueryOperand { .aggregate(.count, of: nil) }
    /// Returns the number of values of an attribute.
    public static func count(_ attribute: QueryAttribute) -> QueryOperand { .aggregate(.count, of: attribute) }
    /// Returns the sum of an attribute.
    public static func sum(_ attribute: QueryAttribute) -> QueryOperand { .aggregate(.sum, of: attribute) }
    /// Returns the mean of an attribute.
    public static func average(_ attribute: QueryAttribute) -> QueryOperand { .aggregate(.average, of: attribute) }
    /// Returns the least value of an attribute.
    public static func minimum(_ attribute: QueryAttribute) -> QueryOperand { .aggregate(.minimum, of: attribute) }
    /// Returns the greatest value of an attribute.
    public static func maximum(_ attribute: QueryAttribute) -> QueryOperand { .aggregate(.maximum, of: attribute) }
}

/// A constant in a list of a ``Selection``, written as a literal of Swift.
public struct QueryConstant: Hashable, Sendable, ExpressibleByStringLiteral, ExpressibleByIntegerLiteral,
    ExpressibleByFloatLiteral, ExpressibleByBooleanLiteral, ExpressibleByNilLiteral
{
    /// The value.
    public var value: ODataValue

    /// Creates a constant.
    public init(_ value: (some ODataValueConvertible)?) { self.value = value?.odataValue ?? .null }
    /// Creates a text.
    public init(stringLiteral value: String) { self.value = .string(value) }
    /// Creates an integer.
    public init(integerLiteral value: Int64) { self.value = .integer(value) }
    /// Creates a number with a fraction, as ``QueryOperand/init(floatLiteral:)`` does.
    public init(floatLiteral value: Double) {
        self.value = ODataDecimal(value.description).map(ODataValue.decimal) ?? .double(value)
    }
    /// Creates a Boolean value.
    public init(booleanLiteral value: Bool) { self.value = .boolean(value) }
    /// Creates null.
    public init(nilLiteral: ()) { value = .null }
}

extension QueryTest {
    /// Returns a test of an attribute, such as `.attribute("c.LastName", .like, "S%th")`; `nil` is null.
    public static func attribute(
        _ attribute: QueryAttribute, _ symbol: QueryOperator, _ value: QueryOperand
    ) -> QueryTest {
        .test(.attribute(attribute), symbol, value)
    }

    /// Returns a test of an attribute without a further value, such as `.attribute("c.City", .isNull)`.
    public static func attribute(_ attribute: QueryAttribute, _ symbol: QueryOperator) -> QueryTest {
        .test(.attribute(attribute), symbol, nil)
    }

    /// Returns a test that a query has rows.
    public static func exists(_ selection: Selection) -> QueryTest { selection.exists }
    /// Returns a test that a query has no rows.
    public static func notExists(_ selection: Selection) -> QueryTest { .test(nil, .notExists, .selection(selection)) }

    /// Combines two tests with `and`.
    public static func && (left: QueryTest, right: QueryTest) -> QueryTest {
        switch (left, right) {
        case (.all(let tests), .all(let more)): .all(tests + more)
        case (.all(let tests), _): .all(tests + [right])
        case (_, .all(let tests)): .all([left] + tests)
        default: .all([left, right])
        }
    }

    /// Combines two tests with `or`.
    public static func || (left: QueryTest, right: QueryTest) -> QueryTest {
        switch (left, right) {
        case (.any(let tests), .any(let more)): .any(tests + more)
        case (.any(let tests), _): .any(tests + [right])
        case (_, .any(let tests)): .any([left] + tests)
        default: .any([left, right])
        }
    }

    /// Denies a test.
    public static prefix func ! (test: QueryTest) -> QueryTest { .not(test) }
}
