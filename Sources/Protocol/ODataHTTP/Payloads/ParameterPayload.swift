import ODataFormat
import ODataModel

/// The parameters of an action (OData Protocol 4.01, 11.5.5.1).
enum ParameterPayload {
    static func read(
        _ bytes: [UInt8], _ parameters: [ODataOperation.Parameter], model: EntityDataModel
    ) throws(PayloadError) -> [String: ODataValue] {
        let reader = EntityPayloadReader(model: model, strictness: .strict)
        var values: [String: ODataValue] = [:]
        do throws(JSONError) {
            try JSONScanner.scan(bytes) { (scanner) throws(JSONError) in
                try scanner.beginObject()
                while let key = try scanner.nextKey() {
                    let name = key.string
                    if name.has("@") {
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
