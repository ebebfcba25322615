import ODataModel
import ODataService

/// The raw value of a property, as in `$value` (OData Protocol 4.01, 11.2.4.1).
struct RawValue {
    let bytes: [UInt8]

    /// Creates the raw form of a value: text for most types, the bytes themselves for `Edm.Binary`.
    ///
    /// - Throws: ``ODataError`` with status 400 for values without a raw form.
    init(_ value: ODataValue, _ type: TypeReference, model: EntityDataModel) throws(ODataError) {
        switch (value, type) {
        case (.binary(let content), _): bytes = content
        case (.enumeration(let number), .enumeration(let name)):
            bytes = Array((model.enumType(name)?.text(of: number) ?? String(number)).utf8)
        case (.geo(let value), _): bytes = Array(value.geoJSON.utf8)
        default:
            guard let text = value.lexicalText else {
                throw ODataError(
                    status: 400, code: "NoRawValue", message: "A value of type \(type) has no raw form.")
            }
            bytes = Array(text.utf8)
        }
    }

    /// Parses the raw value of a type.
    ///
    /// - Throws: ``ODataError`` with status 400 and the expected form.
    static func read(
        _ bytes: [UInt8], _ type: TypeReference, model: EntityDataModel
    ) throws(ODataError) -> ODataValue {
        if type.primitive == .binary { return .binary(bytes) }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw ODataError(status: 400, code: "InvalidValue", message: "The value is not UTF-8.")
        }
        if case .enumeration(let name) = type {
            guard let number = model.enumType(name)?.value(of: text) else {
                throw ODataError(
                    status: 400, code: "InvalidValue", message: "\"\(text.prefix(80))\" is not a member of \(name).")
            }
            return .enumeration(number)
        }
        guard let primitive = type.primitive else {
            throw ODataError(status: 400, code: "NoRawValue", message: "A value of type \(type) has no raw form.")
        }
        if primitive == .string { return .string(text) }
        do {
            return try ODataValue(lexical: text, type: primitive)
        } catch {
            throw ODataError(status: 400, code: "InvalidValue", message: error.description)
        }
    }

    /// Returns the media type of a raw value (OData Protocol 4.01, 11.2.4.1).
    static func contentType(_ type: TypeReference) -> String {
        switch type.primitive {
        case .binary?: "application/octet-stream"
        case let primitive? where primitive.isGeo: "application/json"
        default: "text/plain"
        }
    }
}
