import ODataModel

/// An instance on which queries are evaluated: an entity, or the result of a transformation.
public protocol EvaluationRow: Sendable {
    /// The type of the instance, which may derive from the type of the collection.
    var typeName: QualifiedName { get }
    /// The key of an entity; `nil` for other instances. Two entities of a set are the same if their keys are equal.
    var key: EntityKey? { get }
    /// The names of undeclared properties.
    var dynamicPropertyNames: [String] { get }
    /// Returns the value of a structural property; `nil` if the instance has no such property.
    func property(_ name: String) -> ODataValue?
    /// Returns the related instances; at most one for a single-valued navigation property.
    ///
    /// - Parameter path: the navigation property after complex properties, such as `Address/Country`.
    func related(through path: String) throws -> [any EvaluationRow]
    /// Returns the value of an annotation of the instance; `nil` if it has none.
    ///
    /// - Parameter term: the qualified name, followed by `#` and a qualifier if there is one. For the annotation of
    ///   a property, the name of the property and `@` come first.
    func annotation(_ term: String) -> ODataValue?
}

extension EvaluationRow {
    /// The default: no dynamic properties.
    public var dynamicPropertyNames: [String] { [] }
    /// The default: no annotations.
    public func annotation(_ term: String) -> ODataValue? { nil }
}

/// The source of a service's instances.
public protocol EvaluationSource: Sendable {
    /// Returns all entities of a set.
    func rows(of set: String) throws -> [any EvaluationRow]
    /// Returns the entity of a singleton.
    func singleton(_ name: String) throws -> (any EvaluationRow)?
    /// Is called before each condition is evaluated, so that it can stop a long evaluation by throwing an error.
    func checkEvaluation() throws

    /// The maximum number of rows that joins, `concat` and `nest` may create.
    var maxRows: Int { get }
}

extension EvaluationSource {
    /// The default: does not stop the evaluation.
    public func checkEvaluation() throws {}

    /// The default of ``Evaluator/maxJoinedRows``.
    public var maxRows: Int { Evaluator.maxJoinedRows }
}

/// Evaluation of entities with their inline related entities.
extension ODataEntity: EvaluationRow {
    /// The names of undeclared properties.
    public var dynamicPropertyNames: [String] { dynamicProperties.keys.sorted() }

    /// Returns the value of a property.
    public func property(_ name: String) -> ODataValue? { self[name] }

    /// Returns the inline related entities.
    public func related(through path: String) -> [any EvaluationRow] {
        switch related[path] {
        case .one(let entity): [entity]
        case .many(let entities, _, _): entities
        case .some(.none): []
        case .some(.references), nil: throughComplex(path)
        }
    }

    private func throughComplex(_ path: String) -> [any EvaluationRow] {
        guard let slash = path.firstIndex(of: "/"), case .complex(let inner)? = self[String(path[..<slash])] else {
            return []
        }
        return inner.related(through: String(path[path.index(after: slash)...]))
    }

    /// Returns the value of an annotation.
    public func annotation(_ term: String) -> ODataValue? { control.annotations[term] }
}

/// An instance during the evaluation of a query.
///
/// It is an instance of the source with additions by transformations, `$compute` and `$expand`, or it consists only
/// of such additions.
public struct EvaluatedRow: EvaluationRow {
    /// The original instance; `nil` if a transformation created the row.
    var base: (any EvaluationRow)?
    /// The added values by name, which take precedence over the base.
    var values: [String: ODataValue] = [:]
    /// The added related instances by path, which take precedence over the base.
    var relations: [String: [EvaluatedRow]] = [:]
    /// The paths of ``relations`` that transformations created, which are returned without `$expand`.
    var inline: Set<String> = []
    /// The type of a row without a base.
    var ownType = QualifiedName("Edm", "Untyped")

    /// A property of the result.
    public struct PropertyValue: Hashable, Sendable {
        /// The name, with slashes for a path of `groupby`.
        public var name: String
        /// The value.
        public var value: ODataValue

        /// Creates a property value.
        public init(name: String, value: ODataValue) {
            self.name = name
            self.value = value
        }
    }

    /// The selected properties of the row, in the order of the result shape.
    public internal(set) var properties: [PropertyValue] = []
    /// The expanded related instances, by path.
    public internal(set) var expanded: [String: EvaluatedPage] = [:]

    init(_ base: any EvaluationRow) {
        if let row = base as? EvaluatedRow { self = row } else { self.base = base }
    }

    init(type: QualifiedName) { ownType = type }

    /// The type of the instance.
    public var typeName: QualifiedName { base?.typeName ?? ownType }
    /// The key of the original entity.
    public var key: EntityKey? { base?.key }
    /// The names of undeclared properties.
    public var dynamicPropertyNames: [String] { base?.dynamicPropertyNames ?? [] }
    /// Returns the value of a property.
    public func property(_ name: String) -> ODataValue? { values[name] ?? base?.property(name) }
    /// Returns the value of an annotation.
    public func annotation(_ term: String) -> ODataValue? { base?.annotation(term) }

    /// Returns the related instances.
    public func related(through path: String) throws -> [any EvaluationRow] {
        if let rows = relations[path] { return rows }
        return try base?.related(through: path) ?? []
    }

    func rows(through path: String) throws -> [EvaluatedRow] {
        if let rows = relations[path] { return rows }
        return try base?.related(through: path).map { EvaluatedRow($0) } ?? []
    }
}

/// The result of a query.
public struct EvaluatedPage: Sendable {
    /// The rows.
    public var rows: [EvaluatedRow]
    /// The number of rows before `$skip` and `$top`, if it was requested.
    public var count: Int?
    /// The form of an expanded page: entities, references or only the number of rows.
    public var form: ExpandItem.Form = .entities
    /// The members of a collection of primitive values; the rows are empty in this case.
    public var values: [ODataValue] = []
}
