/// Access by ordinal and name for types that wrap an entity, as generated ones do.
///
/// The ordinal is that of the model which the code was generated from. Where the service has grown since, the
/// property stands elsewhere: the name decides, and the ordinal only saves the look-up.
extension ODataEntity {
    /// The value of a property as a Swift type; `nil` when it is null, not loaded, or no such value.
    ///
    /// - Parameters:
    ///   - ordinal: where the property is likely to stand.
    ///   - name: the property's name in the model.
    public func typedValue<Value: ODataValueConvertible>(_ ordinal: Int, _ name: String) -> Value? {
        guard let value = value(at: ordinal, name), !value.isNull else { return nil }
        return Value(odataValue: value)
    }

    /// The members of a collection that may be null; `nil` when it is not loaded.
    public func typedMembers<Value: ODataValueConvertible>(_ ordinal: Int, _ name: String) -> [Value?]? {
        guard case .collection(let members)? = value(at: ordinal, name) else { return nil }
        return members.map { $0.isNull ? nil : Value(odataValue: $0) }
    }

    /// The members of a collection, those that are null left out; `nil` when it is not loaded.
    ///
    /// Metadata in XML need not say whether members may be null (OData CSDL XML 4.01, 7.2.1).
    public func typedCollection<Value: ODataValueConvertible>(_ ordinal: Int, _ name: String) -> [Value]? {
        guard case .collection(let members)? = value(at: ordinal, name) else { return nil }
        return members.compactMap { $0.isNull ? nil : Value(odataValue: $0) }
    }

    /// Sets a property; `nil` is null. What is set counts as changed.
    public mutating func setTypedValue(_ ordinal: Int, _ name: String, _ value: (some ODataValueConvertible)?) {
        self[name] = value?.odataValue ?? .null
    }

    /// Sets a collection; `nil` makes it not loaded again.
    public mutating func setTypedMembers(_ ordinal: Int, _ name: String, _ members: [(some ODataValueConvertible)?]?) {
        self[name] = members.map { .collection($0.map { $0?.odataValue ?? .null }) }
    }

    /// Sets a collection; `nil` makes it not loaded again.
    public mutating func setTypedCollection(_ ordinal: Int, _ name: String, _ members: [some ODataValueConvertible]?) {
        self[name] = members.map { .collection($0.map(\.odataValue)) }
    }

    /// The value of a property by its likely ordinal, else by its name.
    private func value(at ordinal: Int, _ name: String) -> ODataValue? {
        if ordinal < values.count, shape.properties[ordinal].name == name { return values[ordinal] }
        return self[name]
    }
}
