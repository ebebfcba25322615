import ErrorCodes

/// An entity or complex value of any type, with a slot for each property of its shape.
///
/// A slot without a value is *not loaded*, which differs from null: ``subscript(_:)-(String)`` returns `nil` for
/// the property, and ``value(of:)`` throws. The entity records changed properties, so that an update sends only
/// these.
///
/// ```swift
/// guard let shape = model.shape(ofSet: "Orders") else { return }
/// var order = ODataEntity(shape: shape)
/// order["Freight"] = .decimal(ODataDecimal(12))
/// ```
public struct ODataEntity: Sendable {
    /// The shape of the entity's type, which may be a derived type.
    public let shape: TypeShape
    /// The structural values by ordinal; `nil` if not loaded.
    public var values: [ODataValue?]
    /// Data that most entities do not have: one element or none. An array is changed in place and copied on write,
    /// and keeps an entity at three words.
    private var extras: [Extras]

    /// The data of an entity besides the values of its shape.
    private struct Extras: Sendable {
        var dynamicProperties: [String: ODataValue] = [:]
        var related: [String: RelatedEntities] = [:]
        var control = ControlInformation()
        var changedProperties: Set<String> = []
    }

    /// The dynamic properties of open types, which ``shape`` does not declare.
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

    /// The control information that the service sends with the entity.
    public var control: ControlInformation {
        get { extras.first?.control ?? ControlInformation() }
        _modify {
            makeExtras()
            yield &extras[0].control
        }
    }

    /// The properties set by name since the creation of the entity or the last call of ``markUnchanged()``. An
    /// update sends these properties.
    public var changedProperties: Set<String> { extras.first?.changedProperties ?? [] }

    private mutating func makeExtras() {
        if extras.isEmpty { extras.append(Extras()) }
    }

    /// Creates an entity without loaded properties.
    public init(shape: TypeShape) {
        self.init(shape: shape, values: [ODataValue?](repeating: nil, count: shape.properties.count))
    }

    /// Creates an entity from its slots; the array is truncated or padded to the shape's length.
    public init(shape: TypeShape, values: [ODataValue?]) {
        self.shape = shape
        self.values = values
        extras = []
        fitValues()
    }

    /// Creates an entity from a response, without changed properties.
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

    /// Creates an entity from names and values; names that the shape lacks become dynamic properties.
    public init(shape: TypeShape, _ properties: [String: ODataValue]) {
        self.init(shape: shape)
        for (name, value) in properties { self[name] = value }
    }

    /// The value of a declared or dynamic property; `nil` if not loaded.
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

    /// Clears the set of changed properties. Readers call this method when an entity is complete.
    public mutating func markUnchanged() {
        if !extras.isEmpty { extras[0].changedProperties = [] }
    }

    /// Sets the changed properties, for entities restored from a store.
    package mutating func markChanged(_ names: Set<String>) {
        if names.isEmpty { return markUnchanged() }
        makeExtras()
        extras[0].changedProperties = names
    }

    /// Returns the value of a property.
    ///
    /// - Throws: ``EntityError/notLoaded(property:type:)`` or ``EntityError/unknownProperty(_:type:)``.
    public func value(of name: String) throws(EntityError) -> ODataValue {
        if let value = self[name] { return value }
        guard shape.ordinal(of: name) != nil else { throw .unknownProperty(name, type: shape.name) }
        throw .notLoaded(property: name, type: shape.name)
    }

    /// The key in declared order; `nil` if a part is missing or null.
    public var key: EntityKey? {
        var parts: [EntityKey.Part] = []
        for property in shape.key {
            guard let value = self[property.path] ?? within(property.path), !value.isNull else { return nil }
            parts.append(EntityKey.Part(name: property.name, value: value))
        }
        return parts.isEmpty ? nil : EntityKey(parts)
    }

    /// Returns the value at a path into a complex property, which may be part of a key (OData CSDL 4.01, 6.5).
    private func within(_ path: String) -> ODataValue? {
        guard let (first, behind) = path.halves(atFirst: "/"), case .complex(let holder)? = self[String(first)] else {
            return nil
        }
        let rest = String(behind)
        return holder[rest] ?? holder.within(rest)
    }
}

extension ODataEntity: Hashable {
    /// Returns whether the types, properties and related entities are equal, regardless of control information.
    public static func == (left: ODataEntity, right: ODataEntity) -> Bool {
        left.shape.name == right.shape.name && left.values == right.values
            && left.dynamicProperties == right.dynamicProperties && left.related == right.related
    }

    /// Hashes the type and the properties.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(shape.name)
        hasher.combine(values)
    }
}

/// The content of an expanded navigation property.
///
/// ```swift
/// let query = try ODataURL(parsing: "Orders?$expand=Customer")
/// for order in try await service.entities(query) {
///     if case .one(let customer)? = order.related["Customer"] { show(customer) }
/// }
/// ```
public enum RelatedEntities: Hashable, Sendable {
    /// No entity, for a single-valued property.
    case none
    /// A single related entity.
    case one(ODataEntity)
    /// A collection, with the total count and the link to the next page if the service sent them.
    case many([ODataEntity], count: Int64? = nil, nextLink: String? = nil)
    /// References to existing entities by entity id, as in `Customer@odata.bind`.
    case references([String])
}

/// An error that occurs when a property of an entity has no usable value.
public enum EntityError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The property exists but was not read; a property that is not loaded is not null.
    case notLoaded(property: String, type: QualifiedName)
    /// The type does not declare the property, and the entity has no dynamic property with this name.
    case unknownProperty(String, type: QualifiedName)
    /// The value has another type than requested.
    case typeMismatch(property: String, type: QualifiedName, expected: String)
    /// The text of the value in a payload is not valid for the property's type.
    case malformed(JSONError)

    /// A message that describes the error.
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
