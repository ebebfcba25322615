import ODataFormat
import ODataModel

/// References to entities: `{"@id": …}` or a collection of them (OData JSON Format 4.01, 14).
struct ReferencePayload {
    var ids: [String] = []
    var isCollection = false
    var nextLink: String?

    init(_ bytes: [UInt8], _ reader: EntityPayloadReader) throws(PayloadError) {
        var result = (ids: [String](), isCollection: false, nextLink: String?.none)
        do throws(JSONError) {
            try JSONScanner.scan(bytes) { (scanner) throws(JSONError) in
                try scanner.beginObject()
                while let key = try scanner.nextKey() {
                    switch key.string {
                    case "@id", "@odata.id": result.ids.append(try scanner.readString())
                    // V2 and V3 name the reference so.
                    case "uri", "url": result.ids.append(try scanner.readString())
                    case "@nextLink", "@odata.nextLink": result.nextLink = try scanner.readString()
                    case "value":
                        result.isCollection = true
                        try scanner.beginArray()
                        while try scanner.nextElement() { try Self.readMember(&scanner, &result.ids) }
                    default: try scanner.skipValue()
                    }
                }
                try scanner.expectEnd()
            }
        } catch {
            throw .malformed(error)
        }
        (ids, isCollection, nextLink) = result
    }

    private static func readMember(_ scanner: inout JSONScanner, _ ids: inout [String]) throws(JSONError) {
        try scanner.beginObject()
        while let key = try scanner.nextKey() {
            if key == "@id" || key == "@odata.id" {
                ids.append(try scanner.readString())
            } else {
                try scanner.skipValue()
            }
        }
    }
}

/// The parameters of an action (OData Protocol 4.01, 11.5.5.1).
enum ParameterPayload {
    static func read(
        _ bytes: [UInt8], _ parameters: [Operation.Parameter], model: EntityDataModel
    ) throws(PayloadError) -> [String: ODataValue] {
        let reader = EntityPayloadReader(model: model, strictness: .strict)
        var values: [String: ODataValue] = [:]
        do throws(JSONError) {
            try JSONScanner.scan(bytes) { (scanner) throws(JSONError) in
                try scanner.beginObject()
                while let key = try scanner.nextKey() {
                    let name = key.string
                    if name.contains("@") {
                        try scanner.skipValue()
                        continue
                    }
                    guard let parameter = parameters.first(where: { $0.name == name }) else {
                        throw scanner.error(
                            .unknownProperty(name),
                            expected: parameters.isEmpty
                                ? "no parameters" : "one of \(parameters.map(\.name).joined(separator: ", "))")
                    }
                    do throws(JSONError) {
                        values[name] = try reader.readValue(&scanner, type: parameter.type)
                    } catch {
                        throw error.within(name)
                    }
                }
                try scanner.expectEnd()
            }
        } catch {
            throw .malformed(error)
        }
        return values
    }
}
