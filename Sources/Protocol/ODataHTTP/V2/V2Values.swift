import ODataFormat
import ODataModel
import ODataService

/// Values of the service's types as values of V2's, and back.
///
/// | 4.01 | V2 |
/// |---|---|
/// | `Edm.Date` | `Edm.DateTime` at midnight |
/// | `Edm.TimeOfDay`, `Edm.Duration` | `Edm.Time` |
/// | an enumeration | `Edm.String`, its members by name |
/// | a type definition | its underlying type |
/// | complex types | the same, of what V2 can say |
/// | collections, streams, geo values, dynamic properties | left out |
struct V2Values {
    let model: V2Model

    // MARK: To V2

    /// A value as a V2 client gets it.
    func visible(_ value: ODataValue, from type: TypeReference, to visibleType: TypeReference) -> ODataValue {
        switch (value, type) {
        case (.date, _): return value.legacyValue(of: .dateTime) ?? value
        case (.timeOfDay, _): return value.legacyValue(of: .time) ?? value
        case (.enumeration(let number), .enumeration(let name)):
            return .string(model.service.enumType(name)?.text(of: number) ?? String(number))
        case (.complex(let complex), _): return .complex(visible(complex))
        // The result of an operation may be a collection, though no property is one.
        case (.collection(let members), _):
            return .collection(members.map { visible($0, from: type.element, to: visibleType.element) })
        default: return value
        }
    }

    /// The properties of an entity or complex value that V2 has, with V2's values; nothing else of it.
    func visible(_ entity: ODataEntity) -> ODataEntity {
        guard let shape = model.visible.shape(entity.shape.name) else { return entity }
        var result = ODataEntity(shape: shape)
        for (ordinal, property) in shape.properties.enumerated() {
            guard let value = entity[property.name], let declared = entity.shape.property(property.name) else {
                continue
            }
            result.values[ordinal] = visible(value, from: declared.type, to: property.type)
        }
        return result
    }

    // MARK: From V2

    /// A value that a V2 client sent as the service has it.
    ///
    /// - Parameter target: the property's name, for errors.
    /// - Throws: 400 where the service's type has no such value.
    func stored(_ value: ODataValue, as type: TypeReference, target: String) throws(ODataError) -> ODataValue {
        // A type definition has the values of the type below it.
        switch (value, type.primitive.map { .primitive($0) } ?? type) {
        case (.dateTime(let instant), .primitive(.date)):
            guard instant.timeOfDay.picoseconds == 0 else {
                throw invalid("\(instant) has a time of day, and \(target) has none", target)
            }
            return .date(instant.date)
        case (.dateTime(let instant), .primitive(.dateTimeOffset)):
            return .dateTimeOffset(ODataDateTimeOffset(seconds: instant.seconds, picoseconds: instant.picoseconds))
        case (.duration(let duration), .primitive(.timeOfDay)):
            guard let time = Self.timeOfDay(duration) else {
                throw invalid("\(duration) is no time of a day", target)
            }
            return .timeOfDay(time)
        case (.string(let text), .enumeration(let name)):
            guard let number = model.service.enumType(name)?.value(of: text) else {
                throw invalid("\"\(text.prefix(80))\" is no member of \(name)", target)
            }
            return .enumeration(number)
        case (.complex(let complex), _): return .complex(try stored(complex))
        default: return value
        }
    }

    /// The properties of an entity or complex value as the service has them; nothing else of it.
    func stored(_ entity: ODataEntity) throws(ODataError) -> ODataEntity {
        guard let shape = model.service.shape(entity.shape.name) else { return entity }
        var result = ODataEntity(shape: shape)
        for (property, value) in zip(entity.shape.properties, entity.values) {
            guard let value, let declared = shape.property(property.name) else { continue }
            result[property.name] = try stored(value, as: declared.type, target: property.name)
        }
        return result
    }

    private static func timeOfDay(_ duration: ODataDuration) -> ODataTimeOfDay? {
        let (whole, isTooLong) = duration.seconds.multipliedReportingOverflow(by: 1_000_000_000_000)
        guard !isTooLong else { return nil }
        let (sum, isOver) = whole.addingReportingOverflow(duration.picoseconds)
        return isOver ? nil : ODataTimeOfDay(picoseconds: sum)
    }

    private func invalid(_ reason: String, _ target: String) -> ODataError {
        ODataError(status: 400, code: "InvalidValue", message: "\(reason).", target: target)
    }
}
