/// Access by ordinal and name for types that wrap an entity, such as generated types.
///
/// The ordinal is from the model that the code was generated from. If the service has added properties since,
/// ordinals may differ. The name is decisive; a correct ordinal only avoids the lookup.
extension ODataEntity {
    /// Returns the value of a property as a Swift type; `nil` if the value is null, not loaded or not convertible.
    ///
    /// - Parameters:
    ///   - ordinal: the expected ordinal of the property.
    ///   - name: the property's name in the model.
    public func typedValue<Value: ODataValueConvertible>(_ ordinal: Int, _ name: String) -> Value? {
        guard let value = value(at: ordinal, name), !value.isNull else { return nil }
        return Value(odataValue: value)
    }

    /// Returns the value of a property that is known to be loaded, not null and convertible, such as a non-null
    /// attribute of a business object, whose initializers check that. For any other property, the result is the value
    /// that an empty text, a zero or an empty structure stands for.
    ///
    /// - Parameters:
    ///   - ordinal: the expected ordinal of the property.
    ///   - name: the property's name in the model.
    ///   - substitute: the value for a property that has none after all.
    public func requiredValue<Value: ODataValueConvertible>(
        _ ordinal: Int, _ name: String, or substitute: @autoclosure () -> Value
    ) -> Value {
        typedValue(ordinal, name) ?? substitute()
    }

    /// Returns the members of a collection, which may be null; `nil` if the collection is not loaded.
    public func typedMembers<Value: ODataValueConvertible>(_ ordinal: Int, _ name: String) -> [Value?]? {
        guard case .collection(let members)? = value(at: ordinal, name) else { return nil }
        return members.map { $0.isNull ? nil : Value(odataValue: $0) }
    }

    /// Returns the members of a collection without nulls; `nil` if the collection is not loaded.
    ///
    /// Metadata in XML may leave the nullability of members unstated (OData CSDL XML 4.01, 7.2.1).
    public func typedCollection<Value: ODataValueConvertible>(_ ordinal: Int, _ name: String) -> [Value]? {
        guard case .collection(let members)? = value(at: ordinal, name) else { return nil }
        return members.compactMap { $0.isNull ? nil : Value(odataValue: $0) }
    }

    /// Sets a property and marks it as changed; `nil` sets null.
    public mutating func setTypedValue(_ ordinal: Int, _ name: String, _ value: (some ODataValueConvertible)?) {
        self[name] = value?.odataValue ?? .null
    }

    /// Sets a collection and marks it as changed; `nil` makes it not loaded.
    public mutating func setTypedMembers(_ ordinal: Int, _ name: String, _ members: [(some ODataValueConvertible)?]?) {
        self[name] = members.map { .collection($0.map { $0?.odataValue ?? .null }) }
    }

    /// Sets a collection and marks it as changed; `nil` makes it not loaded.
    public mutating func setTypedCollection(_ ordinal: Int, _ name: String, _ members: [some ODataValueConvertible]?) {
        self[name] = members.map { .collection($0.map(\.odataValue)) }
    }

    /// Returns the value of a property by its expected ordinal, or else by its name.
    private func value(at ordinal: Int, _ name: String) -> ODataValue? {
        if ordinal < values.count, shape.properties[ordinal].name == name { return values[ordinal] }
        return self[name]
    }
}
