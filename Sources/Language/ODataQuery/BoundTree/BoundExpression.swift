import ODataModel

/// An expression with every name resolved against a model and every operand's type known: what the SQL
/// compiler and the evaluator work on.
public indirect enum BoundExpression: Hashable, Sendable {
    /// A value of a type; for null the type is the one it is compared with.
    case constant(ODataValue, TypeReference)
    /// The value at the end of a path.
    case path(BoundPath)
    /// A unary operator.
    case unary(UnaryOperator, BoundExpression, TypeReference)
    /// A binary operator; both operands already have the type that promotion gives them.
    case binary(BinaryOperator, BoundExpression, BoundExpression, TypeReference)
    /// Equal to one of several.
    case membership(BoundExpression, in: [BoundExpression])
    /// A canonical function.
    case function(CanonicalFunction, [BoundExpression], TypeReference)
    /// `cast` of a primitive value, also where promotion needs one.
    case cast(BoundExpression, TypeReference)
    /// `isof` of the entity or complex value at a path.
    case isOf(BoundPath, QualifiedName)
    /// `any` over the members of a collection; no predicate asks for any member at all.
    case any(BoundPath, variable: RangeVariable, BoundExpression?)
    /// `all` over the members of a collection.
    case all(BoundPath, variable: RangeVariable, BoundExpression)
    /// The number of members of a collection that satisfy a condition.
    case count(BoundPath, variable: RangeVariable, filter: BoundExpression?)
    /// `isof` of a value with a type that is not structured. False for null.
    case isOfValue(BoundExpression, TypeReference)
    /// `isdefined` (OData Data Aggregation 4.0, 6.5): whether the instance has what stands at the end of the path.
    case isDefined(BoundPath)
    /// Whether an instance matches a `$search` expression: `$count($search=…)`.
    case search(SearchExpression, RangeVariable)
    /// A list whose members are not all constants.
    case list([BoundExpression], TypeReference)
    /// `aggregate(…)` of a collection within an expression.
    case aggregate(BoundPath, BoundAggregate)
    /// A scalar function that the app registered (``FunctionRegistry``), with arguments of the declared types.
    case custom(ScalarFunction, [BoundExpression])
    /// A test of a node's place in a recursive hierarchy.
    case hierarchyTest(BoundHierarchyTest)

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
        }
    }
}

/// What a path starts from: the current instance, or the member that a lambda runs over.
public struct RangeVariable: Hashable, Sendable {
    /// The name as written; `$it` for the instance that the whole expression is about.
    public let name: String
    /// Distinguishes variables of the same name in nested lambdas; 0 is the current instance of a query, that of
    /// an expanded one too, and ``outermost`` the instance of the whole request where an expanded query names it.
    public let identifier: Int
    /// The shape of the member, or `nil` when it is a primitive value.
    public let shape: TypeShape?
    /// The type of the member.
    public let type: TypeReference

    /// The ``identifier`` of `$it` within the options of `$expand`, where the current instance is another one.
    public static let outermost = -1
    /// The ``identifier`` of `$these`: the collection that the current instance is a member of (OData Data Aggregation
    /// 4.0, 6.2.5). The type of the variable is that of the collection.
    public static let these = -2

    /// The ``identifier`` of the node that a `rolluprecursive` groups by (`rollupnode`; OData Data Aggregation 4.0, 6.3).
    ///
    /// - Parameter position: which of those in one `groupby`, 1 or more.
    public static func rollupNode(_ position: Int) -> Int { these - position }

    /// Makes a variable.
    public init(name: String, identifier: Int, shape: TypeShape?, type: TypeReference) {
        self.name = name
        self.identifier = identifier
        self.shape = shape
        self.type = type
    }
}

/// A resolved path from a range variable.
public struct BoundPath: Hashable, Sendable {
    /// Where it starts.
    public var variable: RangeVariable
    /// The steps; none is the variable itself.
    public var steps: [BoundStep]
    /// The type of what stands at the end.
    public var type: TypeReference

    /// Makes a path.
    public init(variable: RangeVariable, steps: [BoundStep], type: TypeReference) {
        self.variable = variable
        self.steps = steps
        self.type = type
    }
}

/// One resolved step of a path.
public enum BoundStep: Hashable, Sendable {
    /// A structural property at an ordinal of a shape. A complex property is followed by further steps.
    case property(Property, ordinal: Int, of: TypeShape)
    /// A navigation property and the set it leads to; `nil` when contained or unbound.
    case navigation(NavigationProperty, of: TypeShape, set: EntitySet?)
    /// A cast to a derived type.
    case cast(TypeShape)
    /// A dynamic property of an open type.
    case dynamic(String)
    /// A value named by `$compute`, `aggregate` or `concat` earlier in the query.
    case computed(String, TypeReference)
    /// `$root/…`: an entity set, as the first step; the path's variable has no part in it.
    case entitySet(EntitySet, TypeShape)
    /// `$root/…`: a singleton, as the first step.
    case singleton(Singleton, TypeShape)
    /// The member of the collection before it that has a key.
    case key(EntityKey)
    /// `$filter(…)`: the members of the collection before it that satisfy a condition on the variable.
    case filter(BoundExpression, RangeVariable)
    /// An annotation of the instance or property before it: the term, with `#` and the qualifier where there is one.
    case annotation(String)
}

/// The canonical functions of OData (URL Conventions 4.01, 5.1.1.4 to 5.1.1.12).
public enum CanonicalFunction: String, Hashable, Sendable, CaseIterable {
    /// String and collection functions.
    case concat, contains, endswith, indexof, length, startswith, substring
    /// Collection functions.
    case hassubset, hassubsequence
    /// String functions.
    case matchesPattern = "matchesPattern"
    /// String functions.
    case tolower, toupper, trim
    /// Date and time functions.
    case date, day, fractionalseconds, hour, maxdatetime, mindatetime, minute, month, now, second, time
    /// Date and time functions.
    case totaloffsetminutes, totalseconds, year
    /// Arithmetic functions.
    case ceiling, floor, round
    /// Geo functions.
    case geoDistance = "geo.distance"
    /// Geo functions.
    case geoIntersects = "geo.intersects"
    /// Geo functions.
    case geoLength = "geo.length"
    /// Conditional function: pairs of condition and value, flattened.
    case `case`
    /// V2 and V3.
    case substringof, replace, years, minutes
}

extension BoundStep {
    /// The name of the property that the step leads to, as in a grouping path; `nil` for a step to no property.
    package var name: String? {
        switch self {
        case .property(let property, _, _): property.name
        case .navigation(let navigation, _, _): navigation.name
        case .dynamic(let name), .computed(let name, _): name
        case .cast, .entitySet, .singleton, .key, .filter, .annotation: nil
        }
    }
}
