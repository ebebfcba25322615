import ODataModel

/// An expression with resolved names and typed operands, from which the SQL compiler and the evaluator work.
public indirect enum BoundExpression: Hashable, Sendable {
    /// A value of a type. Null has the type with which it is compared.
    case constant(ODataValue, TypeReference)
    /// The value at the end of a path.
    case path(BoundPath)
    /// A unary operator.
    case unary(UnaryOperator, BoundExpression, TypeReference)
    /// A binary operator on operands that are already promoted to their final types.
    case binary(BinaryOperator, BoundExpression, BoundExpression, TypeReference)
    /// Whether a value equals one of several.
    case membership(BoundExpression, in: [BoundExpression])
    /// A call of a canonical function.
    case function(CanonicalFunction, [BoundExpression], TypeReference)
    /// A `cast` of a primitive value, written in the query or added by promotion.
    case cast(BoundExpression, TypeReference)
    /// `isof` for the entity or complex value at a path.
    case isOf(BoundPath, QualifiedName)
    /// `any` over the members of a collection; `nil` tests whether the collection has members.
    case any(BoundPath, variable: RangeVariable, BoundExpression?)
    /// `all` over the members of a collection.
    case all(BoundPath, variable: RangeVariable, BoundExpression)
    /// The number of members of a collection that satisfy a condition.
    case count(BoundPath, variable: RangeVariable, filter: BoundExpression?)
    /// `isof` for a value with an unstructured type; false for null.
    case isOfValue(BoundExpression, TypeReference)
    /// `isdefined` (OData Data Aggregation 4.0, 6.5): whether the instance has the property at the end of the path.
    case isDefined(BoundPath)
    /// Whether an instance matches the expression of `$count($search=…)`.
    case search(SearchExpression, RangeVariable)
    /// A list that contains members other than constants.
    case list([BoundExpression], TypeReference)
    /// `aggregate(…)` over a collection within an expression.
    case aggregate(BoundPath, BoundAggregate)
    /// A call of a registered scalar function (``FunctionRegistry``), with arguments of the declared types.
    case custom(ScalarFunction, [BoundExpression])
    /// A test of a node's place in a recursive hierarchy.
    case hierarchyTest(BoundHierarchyTest)
    /// A query within a ``BoundSelection``; never part of a URL.
    case subquery(BoundSubquery)

    /// The type of the value.
    public var type: TypeReference {
        switch self {
        case .constant(_, let type), .unary(_, _, let type), .binary(_, _, _, let type), .function(_, _, let type),
            .cast(_, let type):
            type
        case .path(let path): path.type
        case .membership, .isOf, .any, .all, .isOfValue, .isDefined, .search, .hierarchyTest: .primitive(.boolean)
        case .count: .primitive(.int64)
        case .list(_, let element): .collection(element)
        case .aggregate(_, let aggregate): aggregate.type
        case .custom(let function, _): function.returnType
        case .subquery(let subquery): subquery.type
        }
    }
}

/// The start of a path: the current instance, or the member over which a lambda iterates.
public struct RangeVariable: Hashable, Sendable {
    /// The name in the query; `$it` for the instance of the whole expression.
    public let name: String
    /// The number that distinguishes variables of the same name.
    ///
    /// The current instance of a query, or of an expanded query, has 0. The instance of the whole request has
    /// ``outermost`` if an expanded query refers to it.
    public let identifier: Int
    /// The shape of the member; `nil` for a primitive value.
    public let shape: TypeShape?
    /// The type of the member.
    public let type: TypeReference

    /// The ``identifier`` of `$it` in the options of `$expand`, which differs from the current instance.
    public static let outermost = -1
    /// The ``identifier`` of `$these`, the collection of the current instance (OData Data Aggregation 4.0, 6.2.5).
    /// The type of the variable is the type of the collection.
    public static let these = -2

    /// Returns the ``identifier`` of the node in a `rolluprecursive` (`rollupnode`; OData Data Aggregation 4.0,
    /// 6.3).
    ///
    /// - Parameter position: the position of the `rolluprecursive` in its `groupby`, 1 or more.
    public static func rollupNode(_ position: Int) -> Int { these - position }

    /// Creates a variable.
    public init(name: String, identifier: Int, shape: TypeShape?, type: TypeReference) {
        self.name = name
        self.identifier = identifier
        self.shape = shape
        self.type = type
    }
}

/// A resolved path from a range variable.
public struct BoundPath: Hashable, Sendable {
    /// The start of the path.
    public var variable: RangeVariable
    /// The steps; empty for the variable itself.
    public var steps: [BoundStep]
    /// The type of the value at the end.
    public var type: TypeReference

    /// Creates a path.
    public init(variable: RangeVariable, steps: [BoundStep], type: TypeReference) {
        self.variable = variable
        self.steps = steps
        self.type = type
    }
}

/// One resolved step of a path.
public enum BoundStep: Hashable, Sendable {
    /// A structural property and its ordinal in a shape. Further steps may follow a complex property.
    case property(Property, ordinal: Int, of: TypeShape)
    /// A navigation property and its target set; `nil` if it is contained or unbound.
    case navigation(NavigationProperty, of: TypeShape, set: EntitySet?)
    /// A cast to a derived type.
    case cast(TypeShape)
    /// A dynamic property of an open type.
    case dynamic(String)
    /// A value that an earlier `$compute`, `aggregate` or `concat` created.
    case computed(String, TypeReference)
    /// `$root/…`: an entity set as the first step; the variable of the path is unused.
    case entitySet(EntitySet, TypeShape)
    /// `$root/…`: a singleton as the first step; the variable of the path is unused.
    case singleton(Singleton, TypeShape)
    /// The member with a key in the preceding collection.
    case key(EntityKey)
    /// `$filter(…)`: the members of the preceding collection that satisfy a condition on the variable.
    case filter(BoundExpression, RangeVariable)
    /// An annotation of the preceding instance or property: the term, followed by `#` and the qualifier if there is
    /// one.
    case annotation(String)
}

/// The canonical functions of OData (URL Conventions 4.01, 5.1.1.4 to 5.1.1.12).
public enum CanonicalFunction: String, Hashable, Sendable, CaseIterable {
    /// Functions on strings and collections.
    case concat, contains, endswith, indexof, length, startswith, substring
    /// Functions on collections.
    case hassubset, hassubsequence
    /// A function on strings.
    case matchesPattern = "matchesPattern"
    /// Functions on strings.
    case tolower, toupper, trim
    /// Functions on dates and times.
    case date, day, fractionalseconds, hour, maxdatetime, mindatetime, minute, month, now, second, time
    /// Functions on dates and times.
    case totaloffsetminutes, totalseconds, year
    /// Functions on numbers.
    case ceiling, floor, round
    /// The distance of two points.
    case geoDistance = "geo.distance"
    /// Whether a point lies in a polygon.
    case geoIntersects = "geo.intersects"
    /// The length of a line.
    case geoLength = "geo.length"
    /// The conditional function: pairs of a condition and a value, flattened.
    case `case`
    /// Functions of V2 and V3.
    case substringof, replace, years, months, days, hours, minutes, seconds
}

extension BoundStep {
    /// The name of the property, as in a grouping path; `nil` for a step without a property.
    package var name: String? {
        switch self {
        case .property(let property, _, _): property.name
        case .navigation(let navigation, _, _): navigation.name
        case .dynamic(let name), .computed(let name, _): name
        case .cast, .entitySet, .singleton, .key, .filter, .annotation: nil
        }
    }
}
