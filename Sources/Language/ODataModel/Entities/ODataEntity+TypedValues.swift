extension ODataEntity {
    /// The value of a property as a Swift type; `nil` if it is not loaded, null or of another type.
    ///
    /// A decimal or an integer can be read as `Double`, and an integer as ``ODataDecimal``. Setting `nil` sets null.
    ///
    /// ```swift
    /// let freight = order[as: Double.self, "Freight"] ?? 0
    /// order[as: String.self, "ShipCity"] = "Oslo"
    /// ```
    ///
    /// - Parameters:
    ///   - type: The Swift type, such as `String`, `Int`, `Double`, `Bool` or ``ODataDate``.
    ///   - name: The name of a declared or dynamic property.
    public subscript<Value: ODataValueConvertible>(as type: Value.Type, name: String) -> Value? {
        get {
            guard let value = self[name] else { return nil }
            return Value(odataValue: value) ?? value.widened.lazy.compactMap { Value(odataValue: $0) }.first
        }
        set { self[name] = newValue?.odataValue ?? .null }
    }
}

extension ODataValue {
    /// The same number in wider types: an integer as decimal and double, a decimal as double.
    fileprivate var widened: [ODataValue] {
        switch self {
        case .integer(let number): [.decimal(ODataDecimal(number)), .double(Double(number))]
        case .decimal(let number): [.double(number.doubleValue)]
        default: []
        }
    }
}
