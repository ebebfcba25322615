import ODataFormat
import ODataModel
import ODataService

/// Conversion of values between the types of the service and those of V2.
///
/// | 4.01 | V2 |
/// |---|---|
/// | `Edm.Date` | `Edm.DateTime` at midnight |
/// | `Edm.TimeOfDay`, `Edm.Duration` | `Edm.Time` |
/// | an enumeration | `Edm.String` with the names of its members |
/// | a type definition | its underlying type |
/// | complex types | the same, with the properties that V2 supports |
/// | collections, streams, geo values, dynamic properties | omitted |
struct V2Values {
    let model: V2Model

    // MARK: To V2

    /// Returns a value for a V2 client.
    func visible(_ value: ODataValue, from type: TypeReference, to visibleType: TypeReference) -> ODataValue {
        switch (value, type) {
        case (.date, _): return value.legacyValue(of: .dateTime) ?? value
        case (.timeOfDay, _): return value.legacyValue(of: .time) ?? value
        case (.enumeration(let number), .enumeration(let name)):
            return .string(model.service.enumType(name)?.text(of: number) ?? String(number))
        case (.complex(let complex), _): return .complex(visible(complex))
        // The result of an operation may be a collection, in contrast to properties.
        case (.collection(let members), _):
            return .collection(members.map { visible($0, from: type.element, to: visibleType.element) })
        default: return value
        }
    }

    /// Returns the V2 properties of an entity or complex value with V2 values, without other content.
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

    /// Returns the service's form of a value that a V2 client sent.
    ///
    /// - Parameter target: the name of the property, for errors.
    /// - Throws: 400 if the type of the service has no such value.
    func stored(_ value: ODataValue, as type: TypeReference, target: String) throws(ODataError) -> ODataValue {
        // A type definition has the values of its underlying type.
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
                throw invalid("\"\(text.prefix(80))\" is not a member of \(name)", target)
            }
            return .enumeration(number)
        case (.complex(let complex), _): return .complex(try stored(complex))
        default: return value
        }
    }

    /// Returns the properties of an entity or complex value in the service's form, without other content.
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
