import HTTPTypes
import ODataFormat
import ODataModel
import ODataQuery
import ODataService

/// Writes the requests of a batch, each with the encoder of single requests (OData Protocol 4.01, 11.7).
struct BatchRequestWriter {
    let encoder: RequestEncoder

    /// Writes the body of a batch.
    ///
    /// - Throws: ``ODataError`` with status 400 for a stream in a batch, which would have to be held in memory.
    func write(_ items: [BatchItem], format: BatchFormat) throws -> ([UInt8], contentType: String) {
        let parts = try items.map(part)
        switch format {
        case .json: return (JSONBatch.writeRequest(parts), "application/json")
        case .multipart:
            let boundary = "batch_\(ODataGuid.random())"
            return (
                MultipartBatch.writeRequest(parts, boundary: boundary), "multipart/mixed;boundary=\(boundary)"
            )
        }
    }

    static func mediaRefusal(_ item: BatchItem) -> ODataError {
        ODataError(
            status: 400, code: "MediaInBatch", message: "A stream cannot be sent within a batch.", target: item.id)
    }

    private func part(_ item: BatchItem) throws -> BatchRequestPart {
        if case .media = item.request.body { throw Self.mediaRefusal(item) }
        guard item.values.isEmpty else { throw ODataError.notImplemented("Values of earlier answers in a batch") }
        let (message, fields, body) = try encoder.encodePart(item.request)
        return BatchRequestPart(
            id: item.id, method: message.method.rawValue,
            url: item.request.link ?? item.request.url.urlEncoded(),
            headers: fields.map { BatchHeader($0.name.rawName, $0.value) }, body: body,
            atomicityGroup: item.atomicityGroup, dependsOn: item.dependsOn, condition: item.condition?.text)
    }
}

/// Reads the responses to a batch, each with the decoder of single responses.
struct BatchAnswers {
    let decoder: ResponseDecoder

    /// Reads the body of a batch response.
    ///
    /// - Returns: a result for each request that got a response, in the order of the requests.
    func read(_ bytes: [UInt8], contentType: String?, to items: [BatchItem]) async throws -> [BatchResult] {
        let parts: [BatchResponsePart]
        do throws(BatchError) {
            if contentType.flatMap({ MediaType($0) })?.isJSON ?? (bytes.first == UInt8(ascii: "{")) {
                parts = try JSONBatch.readResponse(bytes)
            } else {
                parts = try MultipartBatch.readResponse(
                    bytes, boundary: MultipartBatch.boundary(contentType: contentType ?? ""))
            }
        } catch {
            throw InvalidResponseError(
                status: 200, problem: .malformed(error.description), url: decoder.serviceRoot.url(for: "$batch"))
        }
        var results: [BatchResult] = []
        for (item, part) in BatchMatching(items: items, parts: parts).pairs {
            results.append(BatchResult(id: item.id, result: try await result(item, part)))
        }
        return results
    }

    private func result(_ item: BatchItem, _ part: BatchResponsePart) async throws -> Result<ODataResponse, ODataError>
    {
        var message = HTTPResponse(status: .init(code: part.status))
        for header in part.headers {
            guard let name = HTTPField.Name(header.name) else { continue }
            message.headerFields.append(HTTPField(name: name, value: header.value))
        }
        do {
            return .success(try await decoder.decode(message, body: ByteStream(part.body), to: item.request))
        } catch let error as ODataError {
            return .failure(error)
        } catch let error as InvalidResponseError {
            // A change with an unreadable response was made nevertheless, and the other responses remain valid.
            if item.request.method != .read, (200..<300).contains(part.status) {
                var response = ODataResponse(status: part.status)
                response.etag = message.headerFields[.eTag]
                response.location = message.headerFields[.location]
                response.entityID = message.headerFields[.odataEntityID]
                return .success(response)
            }
            return .failure(ODataError(status: 502, code: "InvalidResponse", message: error.description))
        }
    }
}

/// Matches responses to requests: by id, or else by order. A failed change set has one response for all of its
/// requests (OData Protocol 4.01, 11.7.4).
struct BatchMatching {
    let pairs: [(BatchItem, BatchResponsePart)]

    init(items: [BatchItem], parts: [BatchResponsePart]) {
        let ids = Set(items.map(\.id))
        var named: [String: BatchResponsePart] = [:]
        var unnamed: [BatchResponsePart] = []
        for part in parts {
            if let id = part.id, ids.contains(id), named[id] == nil { named[id] = part } else { unnamed.append(part) }
        }
        unnamed.reverse()
        var pairs: [(BatchItem, BatchResponsePart)] = []
        for unit in Self.units(items) {
            let missing = unit.filter { named[$0.id] == nil }
            let isGroup = unit[0].atomicityGroup != nil
            // One refusal, with or without an id, applies to the whole change set.
            var refusal = unit.lazy.compactMap { named[$0.id] }.first { $0.status >= 400 }
            if isGroup, !missing.isEmpty, refusal == nil, let next = unnamed.last, next.status >= 400,
                next.atomicityGroup == nil
            {
                refusal = unnamed.removeLast()
            }
            for item in unit {
                if let part = named[item.id] {
                    pairs.append((item, part))
                } else if isGroup, let refusal {
                    pairs.append((item, refusal))
                } else if let part = unnamed.popLast() {
                    pairs.append((item, part))
                }
            }
        }
        self.pairs = pairs
    }

    /// Returns the requests one by one, and those of a change set together.
    static func units(_ items: [BatchItem]) -> [[BatchItem]] {
        var units: [[BatchItem]] = []
        for item in items {
            if let group = item.atomicityGroup, units.last?.first?.atomicityGroup == group {
                units[units.count - 1].append(item)
            } else {
                units.append([item])
            }
        }
        return units
    }
}
