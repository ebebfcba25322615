import ErrorCodes

/// An entity or complex value of any type: a shape and a slot for each of its properties.
///
/// A slot without a value is *not loaded*, which is not null: ``subscript(_:)-(String)`` returns `nil`
/// for it and ``value(of:)`` throws. Changes are remembered, so that an update sends only what changed.
///
/// ```swift
/// var order = ODataEntity(shape: shape)
/// order["Freight"] = .decimal(ODataDecimal(12))
/// ```
public struct ODataEntity: Sendable {
    /// The type's shape.
    public let shape: TypeShape
    /// The structural values by ordinal; `nil` is not loaded.
    public var values: [ODataValue?]
    /// What most entities do not have: one element or none. An array is changed in place and copied on
    /// write, and an entity stays three words however much there is.
    private var extras: [Extras]

    /// What an entity has besides the values of its shape.
    private struct Extras: Sendable {
        var dynamicProperties: [String: ODataValue] = [:]
        var related: [String: RelatedEntities] = [:]
        var control = ControlInformation()
        var changedProperties: Set<String> = []
    }

    /// What ``shape`` does not declare: the dynamic properties of open types.
    public var dynamicProperties: [String: ODataValue] {
        get { extras.first?.dynamicProperties ?? [:] }
        _modify {
            makeExtras()
            yield &extras[0].dynamicProperties
        }
    }

    /// Expanded navigation properties by name.
    public var related: [String: RelatedEntities] {
        get { extras.first?.related ?? [:] }
        _modify {
            makeExtras()
            yield &extras[0].related
        }
    }

    /// What the service says of the entity besides its properties.
    public var control: ControlInformation {
        get { extras.first?.control ?? ControlInformation() }
        _modify {
            makeExtras()
            yield &extras[0].control
        }
    }

    /// The properties set by name since the entity was made or ``markUnchanged()`` was called: what an
    /// update sends.
    public var changedProperties: Set<String> { extras.first?.changedProperties ?? [] }

    private mutating func makeExtras() {
        if extras.isEmpty { extras.append(Extras()) }
    }

    /// Makes an entity with nothing loaded.
    public init(shape: TypeShape) {
        self.init(shape: shape, values: [ODataValue?](repeating: nil, count: shape.properties.count))
    }

    /// Makes an entity from its slots; the array is cut or filled to the shape's length.
    public init(shape: TypeShape, values: [ODataValue?]) {
        self.shape = shape
        self.values = values
        extras = []
        fitValues()
    }

    /// Makes an entity as it was read, of which nothing is changed.
    package init(shape: TypeShape, values: [ODataValue?], control: ControlInformation) {
        self.shape = shape
        self.values = values
        extras = [Extras(control: control)]
        fitValues()
    }

    private mutating func fitValues() {
        let missing = shape.properties.count - values.count
        if missing > 0 { values += [ODataValue?](repeating: nil, count: missing) }
        if missing < 0 { values.removeLast(-missing) }
    }

    /// Makes an entity from names and values; names the shape lacks become dynamic properties.
    public init(shape: TypeShape, _ properties: [String: ODataValue]) {
        self.init(shape: shape)
        for (name, value) in properties { self[name] = value }
    }

    /// The value of a property, declared or dynamic; `nil` when it is not loaded.
    public subscript(name: String) -> ODataValue? {
        get {
            guard let ordinal = shape.ordinal(of: name) else { return dynamicProperties[name] }
            return values[ordinal]
        }
        set {
            makeExtras()
            extras[0].changedProperties.insert(name)
            guard let ordinal = shape.ordinal(of: name) else {
                dynamicProperties[name] = newValue
                return
            }
            values[ordinal] = newValue
        }
    }

    /// Forgets which properties were changed: what readers do when an entity is complete.
    public mutating func markUnchanged() {
        if !extras.isEmpty { extras[0].changedProperties = [] }
    }

    /// Says which properties were changed: for entities that come from where that was kept.
    package mutating func markChanged(_ names: Set<String>) {
        if names.isEmpty { return markUnchanged() }
        makeExtras()
        extras[0].changedProperties = names
    }

    /// The value of a property.
    ///
    /// - Throws: ``EntityError/notLoaded(property:type:)`` or
    ///   ``EntityError/unknownProperty(_:type:)``.
    public func value(of name: String) throws(EntityError) -> ODataValue {
        if let value = self[name] { return value }
        guard shape.ordinal(of: name) != nil else { throw .unknownProperty(name, type: shape.name) }
        throw .notLoaded(property: name, type: shape.name)
    }

    /// The key in declared order; `nil` when a part is missing or null.
    public var key: EntityKey? {
        var parts: [EntityKey.Part] = []
        for property in shape.key {
            guard let value = self[property.path] ?? within(property.path), !value.isNull else { return nil }
            parts.append(EntityKey.Part(name: property.name, value: value))
        }
        return parts.isEmpty ? nil : EntityKey(parts)
    }

    /// The value at a path into a complex property, where a part of a key may be (OData CSDL 4.01, 6.5).
    private func within(_ path: String) -> ODataValue? {
        guard let slash = path.firstIndex(of: "/"), case .complex(let holder)? = self[String(path[..<slash])] else {
            return nil
        }
        let rest = String(path[path.index(after: slash)...])
        return holder[rest] ?? holder.within(rest)
    }
}

extension ODataEntity: Hashable {
    /// Equal when type, properties and related entities are; control information does not count.
    public static func == (left: ODataEntity, right: ODataEntity) -> Bool {
        left.shape.name == right.shape.name && left.values == right.values
            && left.dynamicProperties == right.dynamicProperties && left.related == right.related
    }

    /// Hashes type and properties.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(shape.name)
        hasher.combine(values)
    }
}

/// What stands in an expanded navigation property.
public enum RelatedEntities: Hashable, Sendable {
    /// A single-valued property that leads nowhere.
    case none
    /// A single related entity.
    case one(ODataEntity)
    /// A collection, with the total count and the link to its next page where the service gave them.
    case many([ODataEntity], count: Int64? = nil, nextLink: String? = nil)
    /// References to existing entities, as in `Customer@odata.bind`: entity ids.
    case references([String])
}

/// Why a property of an entity has no value to give.
public enum EntityError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The property exists but was not among those read: not loaded is not null.
    case notLoaded(property: String, type: QualifiedName)
    /// The type declares no such property and the entity has no dynamic one.
    case unknownProperty(String, type: QualifiedName)
    /// The value is of another type than asked for.
    case typeMismatch(property: String, type: QualifiedName, expected: String)
    /// The value's text in a payload is none of the property's type.
    case malformed(JSONError)

    /// What is wrong.
    public var description: String {
        switch self {
        case .notLoaded(let property, let type): "\(property) of this \(type) was not loaded; add it to $select."
        case .unknownProperty(let property, let type): "\(type) has no property \(property)."
        case .typeMismatch(let property, let type, let expected): "\(property) of \(type) is not \(expected)."
        case .malformed(let error): error.description
        }
    }
}

extension EntityError: CodedError {
    /// `entity.…`.
    public var errorCode: ErrorCode {
        let name =
            switch self {
            case .notLoaded: "not-loaded"
            case .unknownProperty: "unknown-property"
            case .typeMismatch: "type-mismatch"
            case .malformed: "malformed"
            }
        return ErrorCode(rawValue: "entity.\(name)")
    }
    /// The property.
    public var errorArguments: [String: String] { ["reason": description] }
    /// The request is wrong.
    public var failureKind: FailureKind { .request }
}
