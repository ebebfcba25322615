import ODataModel

/// An instance that queries are evaluated on: an entity, or what a transformation made.
public protocol EvaluationRow: Sendable {
    /// The type of the instance, which may derive from that of the collection.
    var typeName: QualifiedName { get }
    /// The key of an entity; `nil` for other instances. Entities of one set are the same when their keys are.
    var key: EntityKey? { get }
    /// The names of the properties that no type declares.
    var dynamicPropertyNames: [String] { get }
    /// The value of a structural property, null where it has none; `nil` when the instance has no such property.
    func property(_ name: String) -> ODataValue?
    /// The related instances: none or one for a single-valued navigation property.
    ///
    /// - Parameter path: the navigation property, after the complex properties on the way, as `Address/Country`.
    func related(through path: String) throws -> [any EvaluationRow]
    /// The value of an annotation of the instance; `nil` when it has none.
    ///
    /// - Parameter term: the qualified name, with `#` and the qualifier where there is one, and before it the
    ///   property and `@` where it annotates one.
    func annotation(_ term: String) -> ODataValue?
}

extension EvaluationRow {
    /// None.
    public var dynamicPropertyNames: [String] { [] }
    /// None.
    public func annotation(_ term: String) -> ODataValue? { nil }
}

/// Where the instances of a service come from.
public protocol EvaluationSource: Sendable {
    /// All entities of a set.
    func rows(of set: String) throws -> [any EvaluationRow]
    /// The entity that a singleton is.
    func singleton(_ name: String) throws -> (any EvaluationRow)?
    /// Called before each condition is evaluated, so that an evaluation that takes too long can be stopped by an error.
    func checkEvaluation() throws
}

extension EvaluationSource {
    /// Most never stop an evaluation.
    public func checkEvaluation() throws {}
}

/// Entities with what is related to them inline.
extension ODataEntity: EvaluationRow {
    /// The names of undeclared properties.
    public var dynamicPropertyNames: [String] { dynamicProperties.keys.sorted() }

    /// The value of a property.
    public func property(_ name: String) -> ODataValue? { self[name] }

    /// The related entities that are inline.
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

    /// The value of an annotation.
    public func annotation(_ term: String) -> ODataValue? { control.annotations[term] }
}

/// An instance in the course of a query: one of the source with what transformations, `$compute` and `$expand` have
/// added to it, or one made of nothing else.
public struct EvaluatedRow: EvaluationRow {
    /// What stands below; `nil` when a transformation made the row.
    var base: (any EvaluationRow)?
    /// Values by name, before those of the base.
    var values: [String: ODataValue] = [:]
    /// Related instances by path, before those of the base.
    var relations: [String: [EvaluatedRow]] = [:]
    /// Which of the ``relations`` are a part of the answer without being expanded: what transformations made.
    var inline: Set<String> = []
    /// The type of a row without a base.
    var ownType = QualifiedName("Edm", "Untyped")

    /// A property of the result.
    public struct PropertyValue: Hashable, Sendable {
        /// The name, with slashes where `groupby` went through others.
        public var name: String
        /// The value.
        public var value: ODataValue

        /// Makes a property's value.
        public init(name: String, value: ODataValue) {
            self.name = name
            self.value = value
        }
    }

    /// What `$select` returns of the row, in the order of the result shape.
    public internal(set) var properties: [PropertyValue] = []
    /// What `$expand` returns of related instances, by path.
    public internal(set) var expanded: [String: EvaluatedPage] = [:]

    init(_ base: any EvaluationRow) {
        if let row = base as? EvaluatedRow { self = row } else { self.base = base }
    }

    init(type: QualifiedName) { ownType = type }

    /// The type of the instance.
    public var typeName: QualifiedName { base?.typeName ?? ownType }
    /// The key of the entity below.
    public var key: EntityKey? { base?.key }
    /// The names of undeclared properties.
    public var dynamicPropertyNames: [String] { base?.dynamicPropertyNames ?? [] }
    /// The value of a property.
    public func property(_ name: String) -> ODataValue? { values[name] ?? base?.property(name) }
    /// The value of an annotation.
    public func annotation(_ term: String) -> ODataValue? { base?.annotation(term) }

    /// Related instances.
    public func related(through path: String) throws -> [any EvaluationRow] {
        if let rows = relations[path] { return rows }
        return try base?.related(through: path) ?? []
    }

    func rows(through path: String) throws -> [EvaluatedRow] {
        if let rows = relations[path] { return rows }
        return try base?.related(through: path).map { EvaluatedRow($0) } ?? []
    }
}

/// The answer to a query.
public struct EvaluatedPage: Sendable {
    /// The rows.
    public var rows: [EvaluatedRow]
    /// The number of rows before `$skip` and `$top`, where it was asked for.
    public var count: Int?
    /// Whether only references, or only the number of rows, were asked for by `$expand`.
    public var form: ExpandItem.Form = .entities
    /// The members of a collection of primitive values, when that is what was asked about; the rows are then empty.
    public var values: [ODataValue] = []
}
