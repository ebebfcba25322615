/// A writer of values of any type as JSON; conforming types define the writing of structured instances (OData JSON
/// Format 4.01, 7).
public protocol JSONValueWriting {
    /// The model that declares enumeration members.
    var model: EntityDataModel { get }
    /// Whether 64-bit integers and decimals are written as strings (`IEEE754Compatible=true`,
    /// OData JSON Format 4.01, 3.2).
    var isIEEE754Compatible: Bool { get }

    /// Writes an instance as an object.
    ///
    /// - Parameters:
    ///   - entity: the instance.
    ///   - declared: the declared type; `nil` for the abstract types and untyped values.
    ///   - writer: the writer to append to.
    func writeInstance(_ entity: ODataEntity, declared: QualifiedName?, to writer: inout JSONWriter)
}

extension JSONValueWriting {
    /// Writes a value.
    ///
    /// - Parameters:
    ///   - value: the value.
    ///   - type: the declared type of the value; `nil` if unknown.
    ///   - writer: the writer to append to.
    public func writeValue(_ value: ODataValue, type: TypeReference?, to writer: inout JSONWriter) {
        switch value {
        case .null: writer.null()
        case .boolean(let value): writer.boolean(value)
        case .integer(let number):
            if isIEEE754Compatible, type?.primitive == .int64 || type?.primitive == .decimal {
                writer.string(String(number))
            } else {
                writer.integer(number)
            }
        case .single(let value): writer.single(value)
        case .double(let value): writer.double(value)
        case .decimal(let number):
            if isIEEE754Compatible { writer.string(number.description) } else { writer.decimal(number) }
        case .string(let value): writer.string(value)
        case .geo(let value): writer.geo(value)
        case .enumeration(let number): writeEnumeration(number, type, to: &writer)
        case .complex(let entity):
            let declared: QualifiedName? =
                switch type {
                case .complex(let name), .entity(let name): name
                default: nil
                }
            writeInstance(entity, declared: declared, to: &writer)
        case .collection(let values):
            writer.beginArray()
            for value in values { writeValue(value, type: type?.element, to: &writer) }
            writer.endArray()
        case .guid(let value): writer.plain { value.write(to: &$0) }
        case .date(let value): writer.plain { value.write(to: &$0) }
        case .timeOfDay(let value): writer.plain { value.write(to: &$0) }
        case .dateTimeOffset(let value): writer.plain { value.write(to: &$0) }
        case .dateTime(let value): writer.plain { value.write(to: &$0) }
        case .duration(let value): writer.plain { value.write(to: &$0) }
        case .binary(let value): writer.string(Base64URL.encode(value))
        }
    }

    private func writeEnumeration(_ number: Int64, _ type: TypeReference?, to writer: inout JSONWriter) {
        if case .enumeration(let name) = type, let enumeration = model.enumType(name) {
            writer.string(enumeration.text(of: number))
        } else {
            writer.string(String(number))
        }
    }
}

extension JSONWriter {
    /// Writes a value; structured instances have only their properties.
    ///
    /// `@odata.type` is added if the type differs from the declared type, or if JSON does not imply the type of a
    /// dynamic property. `ODataFormat` writes all control information.
    public mutating func value(
        _ value: ODataValue, type: TypeReference?, model: EntityDataModel, isIEEE754Compatible: Bool = false
    ) {
        PropertiesOnlyWriter(model: model, isIEEE754Compatible: isIEEE754Compatible)
            .writeValue(value, type: type, to: &self)
    }
}

/// Writes the loaded properties of an instance.
struct PropertiesOnlyWriter: JSONValueWriting {
    let model: EntityDataModel
    let isIEEE754Compatible: Bool

    func writeInstance(_ entity: ODataEntity, declared: QualifiedName?, to writer: inout JSONWriter) {
        writer.beginObject()
        // Without a declared type, an instance of a model type must state its type.
        let isTold = declared.map { $0 == entity.shape.name } ?? (model.shape(entity.shape.name) == nil)
        if !isTold {
            writer.key("@odata.type")
            writer.string("#\(entity.shape.name)")
        }
        for (property, value) in zip(entity.shape.properties, entity.values) {
            guard let value else { continue }
            writer.key(property.name)
            writeValue(value, type: property.type, to: &writer)
        }
        for (name, value) in entity.dynamicProperties.sorted(by: { $0.key < $1.key }) {
            if !name.isEmpty, let type = value.untoldType(hasTextDecimals: isIEEE754Compatible) {
                writer.key("\(name)@odata.type")
                writer.string("#\(type)")
            }
            writer.key(name)
            writeValue(value, type: nil, to: &writer)
        }
        writer.endObject()
    }
}
