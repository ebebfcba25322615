/// Writes typed values as JSON objects without intermediate entities.
///
/// ```swift
/// var rows = JSONRowWriter(shape: shape, model: model)
/// rows.json.beginArray()
/// for order in orders { try rows.write(order) }
/// rows.json.endArray()
/// send(rows.json.bytes)
/// ```
public struct JSONRowWriter: PropertyWriter {
    /// The writer, which contains the output that has not been flushed.
    public var json: JSONWriter
    private let shape: TypeShape
    private let values: PropertiesOnlyWriter
    private let names: [String]
    private let keys: [JSONWriter.Key]
    private var predicted = 0

    /// Creates a writer.
    ///
    /// - Parameters:
    ///   - shape: the type of the objects.
    ///   - model: the model that declares enumeration members.
    ///   - isIEEE754Compatible: whether 64-bit integers and decimals are written as strings.
    ///   - json: the writer to append to.
    public init(
        shape: TypeShape, model: EntityDataModel, isIEEE754Compatible: Bool = false, json: JSONWriter = JSONWriter()
    ) {
        self.shape = shape
        self.json = json
        values = PropertiesOnlyWriter(model: model, isIEEE754Compatible: isIEEE754Compatible)
        names = shape.properties.map(\.name)
        keys = names.map { JSONWriter.Key($0) }
    }

    /// Writes a value as an object.
    ///
    /// - Throws: errors of the value's `write(to:)`.
    @inlinable
    public mutating func write(_ value: some EntityRepresentable) throws {
        begin()
        try value.write(to: &self)
        json.endObject()
    }

    @usableFromInline
    mutating func begin() {
        json.beginObject()
        predicted = 0
    }

    /// Writes a property.
    ///
    /// - Throws: ``EntityError/unknownProperty(_:type:)`` if the type does not declare the property and is not
    ///   open.
    public mutating func set(_ value: ODataValue, for name: String) throws(EntityError) {
        var ordinal = predicted
        if ordinal >= names.count || names[ordinal] != name {
            guard let found = shape.ordinal(of: name) else {
                guard shape.isOpen else { throw .unknownProperty(name, type: shape.name) }
                json.key(name)
                values.writeValue(value, type: nil, to: &json)
                return
            }
            ordinal = found
        }
        predicted = ordinal + 1
        json.key(keys[ordinal])
        switch value {
        case .enumeration, .complex, .collection, .integer, .decimal:
            values.writeValue(value, type: shape.properties[ordinal].type, to: &json)
        default: values.writeValue(value, type: nil, to: &json)
        }
    }
}
