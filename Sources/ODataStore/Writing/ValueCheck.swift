import Foundation
import ODataModel
import ODataService

/// Checks the values that a request gives against the model: types, nullability and facets
/// (OData CSDL 4.01, 7.2). Every refusal is a 400 whose target is the property's path.
struct ValueCheck {
    let model: EntityDataModel

    /// Checks a value for a property.
    ///
    /// - Parameter path: the property's path from the entity, for messages.
    func check(_ value: ODataValue, for property: Property, path: String) throws {
        if property.type.isCollection {
            guard case .collection(let members) = value else { throw refuse(path, "must be a collection") }
            for (index, member) in members.enumerated() {
                try check(member, type: property.type.element, property, path: "\(path)/\(index)")
            }
            return
        }
        try check(value, type: property.type, property, path: path)
    }

    private func check(_ value: ODataValue, type: TypeReference, _ property: Property, path: String) throws {
        if value.isNull {
            guard property.isNullable else { throw refuse(path, "must have a value") }
            return
        }
        switch type {
        case .primitive(let primitive), .typeDefinition(_, let primitive):
            try check(value, primitive, model.facets(of: property), path: path)
        case .enumeration(let name):
            try checkMember(value, of: name, path: path)
        case .complex(let name):
            guard case .complex(let entity) = value else { throw refuse(path, "must be an object of type \(type)") }
            if let name, !model.isType(entity.shape.name, name) {
                throw refuse(path, "must be of type \(name), not \(entity.shape.name)")
            }
            for (ordinal, nested) in entity.shape.properties.enumerated() {
                guard let value = entity.values[ordinal] else { continue }
                try check(value, for: nested, path: "\(path)/\(nested.name)")
            }
        case .collection, .entity, .untyped: break
        }
    }

    private func check(_ value: ODataValue, _ type: PrimitiveType, _ facets: Facets, path: String) throws {
        switch (type, value) {
        case (.string, .string(let text)):
            if let length = facets.maxLength, text.unicodeScalars.count > length {
                throw refuse(path, "has \(text.unicodeScalars.count) characters where at most \(length) are allowed")
            }
        case (.binary, .binary(let bytes)):
            if let length = facets.maxLength, bytes.count > length {
                throw refuse(path, "has \(bytes.count) bytes where at most \(length) are allowed")
            }
        case (.decimal, .decimal(let number)): try check(number, facets, path: path)
        case (.decimal, .integer(let number)): try check(ODataDecimal(number), facets, path: path)
        case (.dateTimeOffset, .dateTimeOffset(let instant)): try check(instant.picoseconds, facets, path: path)
        case (.dateTime, .dateTime(let instant)): try check(instant.picoseconds, facets, path: path)
        case (.duration, .duration(let duration)), (.time, .duration(let duration)):
            try check(duration.picoseconds, facets, path: path)
        case (.timeOfDay, .timeOfDay(let time)):
            try check(time.picoseconds % 1_000_000_000_000, facets, path: path)
        case (.boolean, .boolean), (.guid, .guid), (.date, .date), (.double, .double), (.single, .single),
            (.double, .single), (.double, .integer), (.single, .integer), (.single, .double):
            break
        default:
            if let range = type.integerRange, case .integer(let number) = value {
                guard range.contains(number) else {
                    throw refuse(path, "is \(number), outside of \(type.rawValue)")
                }
                return
            }
            if type.isGeo, case .geo = value { return }
            throw refuse(path, "must be of type \(type.rawValue)")
        }
    }

    /// An unstated scale is 0 by the standard, but only where a precision is stated beside it is that taken
    /// at its word: many services leave both out and mean any number.
    private func check(_ number: ODataDecimal, _ facets: Facets, path: String) throws {
        let number = number.normalized
        let scale: Int?
        switch facets.scale {
        case .fixed(let digits): scale = digits
        case .variable, .floating: scale = nil
        case nil: scale = facets.precision == nil || model.version < .v4 ? nil : 0
        }
        if let scale, number.scale > scale {
            throw refuse(path, "is \(number), with more than \(scale) digits after the point")
        }
        guard let precision = facets.precision else { return }
        let digits = number.magnitude == 0 ? 1 : String(number.magnitude).utf8.count
        if case .floating? = facets.scale {
            guard digits <= precision else { throw refuse(path, "is \(number), of more than \(precision) digits") }
            return
        }
        guard max(digits - number.scale, 0) <= precision - (scale ?? 0), digits <= precision else {
            throw refuse(path, "is \(number), of more than \(precision) digits, \(scale ?? 0) after the point")
        }
    }

    private func check(_ picoseconds: Int64, _ facets: Facets, path: String) throws {
        guard let precision = facets.precision, (0..<12).contains(precision) else { return }
        var unit: Int64 = 1
        for _ in precision..<12 { unit *= 10 }
        guard picoseconds % unit == 0 else {
            throw refuse(path, "has more than \(precision) fractional digits of a second")
        }
    }

    private func checkMember(_ value: ODataValue, of name: QualifiedName, path: String) throws {
        guard case .enumeration(let number) = value else { throw refuse(path, "must be of type \(name)") }
        guard let type = model.enumType(name), !type.members.isEmpty else { return }
        let isMember =
            type.isFlags
            ? number & ~type.members.reduce(0) { $0 | $1.value } == 0 : type.members.contains { $0.value == number }
        guard isMember else { throw refuse(path, "is \(number), which is no member of \(name)") }
    }

    private func refuse(_ path: String, _ reason: String) -> ODataError {
        ODataError(status: 400, code: "InvalidValue", message: "\(path) \(reason).", target: path)
    }
}

extension Property {
    /// Whether the service gives the value on insert and update (`Org.OData.Core.V1.Computed`).
    var isComputed: Bool { isTagged("Org.OData.Core.V1.Computed") }
    /// Whether the service gives a value where the client leaves it out.
    var hasComputedDefault: Bool { isTagged("Org.OData.Core.V1.ComputedDefaultValue") }
    /// Whether the value cannot change after the insert.
    var isImmutable: Bool { isTagged("Org.OData.Core.V1.Immutable") }

    /// A tagging term is on when it is applied, unless with the value false.
    private func isTagged(_ term: String) -> Bool {
        annotations.annotation(term).map { $0.value?.boolean ?? true } ?? false
    }
}

extension EntityDataModel {
    /// Whether a capability is not denied by the annotations of an entity set or singleton.
    ///
    /// - Parameters:
    ///   - term: such as `InsertRestrictions`.
    ///   - property: such as `Insertable`.
    ///   - name: the entity set or singleton.
    func allows(_ term: String, _ property: String, on name: String) -> Bool {
        let annotations = entitySet(name)?.annotations ?? singleton(name)?.annotations ?? []
        guard case .record(_, let properties)? = annotations.annotation("Org.OData.Capabilities.V1.\(term)")?.value
        else { return true }
        return properties.first { $0.name == property }?.value?.boolean ?? true
    }
}
