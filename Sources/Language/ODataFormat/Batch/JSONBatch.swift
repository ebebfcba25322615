import ODataModel

/// Reading and writing of batches in JSON (OData JSON Format 4.01, 19 *Batch Requests and Responses*).
///
/// A body with a JSON media type, or without a type, is embedded as JSON. Text is embedded as a string, and all
/// other bodies as strings in base64url.
public enum JSONBatch {
    /// Reads a whole batch request; ``BatchRequestReader`` reads chunks.
    ///
    /// - Throws: ``BatchError`` with the line and the expected content.
    public static func readRequest(_ bytes: [UInt8]) throws(BatchError) -> [BatchRequestPart] {
        var reader = BatchRequestReader(BatchSource(JSONBatchReader("requests")))
        return try reader.all(bytes)
    }

    /// Reads a whole batch response; ``BatchResponseReader`` reads chunks.
    ///
    /// - Throws: ``BatchError`` with the line and the expected content.
    public static func readResponse(_ bytes: [UInt8]) throws(BatchError) -> [BatchResponsePart] {
        var reader = BatchResponseReader(BatchSource(JSONBatchReader("responses")))
        return try reader.all(bytes)
    }

    /// Writes a batch request. Requests without an id get a number, because JSON requires ids.
    public static func writeRequest(_ parts: [BatchRequestPart]) -> [UInt8] {
        let taken = Set(parts.compactMap(\.id))
        var next = 0
        return write("requests", parts) { part, writer in
            writer.key("id")
            writer.string(part.id ?? freshID(&next, taken))
            if let group = part.atomicityGroup {
                writer.key("atomicityGroup")
                writer.string(group)
            }
            if !part.dependsOn.isEmpty {
                writer.key("dependsOn")
                writer.beginArray()
                for id in part.dependsOn { writer.string(id) }
                writer.endArray()
            }
            if let condition = part.condition {
                writer.key("if")
                writer.string(condition)
            }
            writer.key("method")
            writer.string(part.method.lowercased())
            writer.key("url")
            writer.string(part.url)
            write(part.headers, part.body, to: &writer)
        }
    }

    /// Writes a batch response.
    public static func writeResponse(_ parts: [BatchResponsePart]) -> [UInt8] {
        BatchResponseOutput.write(parts, .json)
    }

    /// Returns a response as a JSON object.
    static func response(_ part: BatchResponsePart) -> [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        if let id = part.id {
            writer.key("id")
            writer.string(id)
        }
        if let group = part.atomicityGroup {
            writer.key("atomicityGroup")
            writer.string(group)
        }
        writer.key("status")
        writer.integer(Int64(part.status))
        write(part.headers, part.body, to: &writer)
        writer.endObject()
        return writer.bytes
    }

    // MARK: Writing

    private static func write<Part>(
        _ name: String, _ parts: [Part], body: (Part, inout JSONWriter) -> Void
    ) -> [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        writer.key(name)
        writer.beginArray()
        for part in parts {
            writer.beginObject()
            body(part, &writer)
            writer.endObject()
        }
        writer.endArray()
        writer.endObject()
        return writer.bytes
    }

    private static func freshID(_ next: inout Int, _ taken: Set<String>) -> String {
        repeat { next += 1 } while taken.contains(String(next))
        return String(next)
    }

    private static func write(_ headers: [BatchHeader], _ body: [UInt8], to writer: inout JSONWriter) {
        if !headers.isEmpty {
            writer.key("headers")
            writer.beginObject()
            for header in headers {
                writer.key(header.name.lowercased())
                writer.string(header.value)
            }
            writer.endObject()
        }
        guard !body.isEmpty else { return }
        writer.key("body")
        switch form(headers) {
        case .json where isJSON(body): writer.raw(body)
        case .text, .json: writer.string(String(decoding: body, as: UTF8.self))
        case .binary: writer.string(ODataValue.binary(body).lexicalText ?? "")
        }
    }

    /// The representations of a body in a batch.
    enum BodyForm { case json, text, binary }

    static func form(_ headers: [BatchHeader]) -> BodyForm {
        guard let type = headers.value(of: "Content-Type")?.lowercased() else { return .json }
        let media = type.prefix { $0 != ";" && $0 != " " }
        if media == "application/json" || media.hasSuffix("+json") { return .json }
        return media.hasPrefix("text/") ? .text : .binary
    }

    /// Returns whether bytes are valid JSON. Invalid bytes would make the whole batch malformed.
    private static func isJSON(_ bytes: [UInt8]) -> Bool {
        let checked: Void? = try? JSONScanner.scan(bytes) { (scanner) throws(JSONError) in
            try scanner.skipValue()
            try scanner.expectEnd()
        }
        return checked != nil
    }
}
