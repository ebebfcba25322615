import HTTPTypes
import ODataFormat
import ODataHTTP
import ODataService

/// Batches in JSON (OData JSON Format 4.01, 19). A unit is a request, or the requests of an atomicity group.
extension RepeatableBatch {
    /// The media type of batches in JSON.
    static let jsonType = "application/json"

    /// Returns whether any request of a batch has the fields of a repeatable request.
    static func isNeeded(for requests: [BatchRequestPart]) -> Bool {
        requests.contains { $0.headers.value(of: "Repeatability-Request-ID") != nil }
    }

    /// Executes a batch.
    ///
    /// Units reach the back end one by one, so that references between them are resolved here: a URL by the location
    /// of the entity, and `dependsOn` by the status of the former response.
    ///
    /// - Throws: ``ODataError`` if no unit was executed.
    func execute(_ requests: [BatchRequestPart]) async throws -> (HTTPResponse, ByteStream) {
        var (answers, outcomes): ([BatchResponsePart], Outcomes) = ([], Outcomes())
        var head: HTTPResponse?
        for (unit, identification) in try units(of: requests) {
            let parts: [BatchResponsePart]
            do {
                let resolved = try outcomes.resolved(unit)
                let answer = try await answer(to: JSONBatch.writeRequest(resolved), identification) { answer in
                    (try? JSONBatch.readResponse(answer.body)).map(Self.finality)
                }
                if let read = try? JSONBatch.readResponse(answer.body) {
                    head = head ?? answer.response
                    parts = Self.marked(read, identification)
                } else if identification != nil, answer.response.status == .noContent {
                    // The response was too long to be kept. The unit is done.
                    parts = Self.marked(unit.map { BatchResponsePart(id: $0.id, status: 204) }, identification)
                } else {
                    // The back end refused the batch itself.
                    guard !answers.isEmpty else { return (answer.response, ByteStream(answer.body)) }
                    throw DestinationFailure.badGateway
                }
            } catch {
                let error = DestinationFailure.error(error)
                guard !answers.isEmpty || Self.isOfUnit(error) else { throw error }
                parts = try await Self.refusals(of: unit, error)
            }
            answers += parts
            outcomes.note(unit, parts)
            if !continuesOnError, parts.contains(where: { $0.status >= 400 }) { break }
        }
        return Self.response(head, Self.jsonType, body: JSONBatch.writeResponse(answers))
    }

    // MARK: Units

    private typealias Unit = ([BatchRequestPart], ReplayGuard.Identification?)

    /// Returns the units. Requests without an id that follow each other go together.
    private func units(of requests: [BatchRequestPart]) throws -> [Unit] {
        var units: [Unit] = []
        var index = 0
        while index < requests.count {
            let first = requests[index]
            var unit = [first]
            if let group = first.atomicityGroup {
                unit += requests[(index + 1)...].prefix { $0.atomicityGroup == group }
            }
            index += unit.count
            let identification = try identification(of: unit)
            if identification == nil, let last = units.indices.last, units[last].1 == nil {
                units[last].0 += unit
            } else {
                units.append((unit, identification))
            }
        }
        return units
    }

    private func identification(of unit: [BatchRequestPart]) throws -> ReplayGuard.Identification? {
        try identification(
            of: unit.map { part in
                Request(
                    id: part.headers.value(of: "Repeatability-Request-ID"),
                    firstSent: part.headers.value(of: "Repeatability-First-Sent"),
                    condition: part.headers.value(of: "If-Match"),
                    content: [Array("\(part.method) \(part.url)".utf8), part.body])
            })
    }

    // MARK: Responses

    /// Returns the finality of a unit, which is that of its least final response (`mobile-server.md` 0.3).
    private static func finality(of parts: [BatchResponsePart]) -> ReplayGuard.Finality {
        parts.map { ReplayGuard.finality(of: $0.status, $0.body) }.max() ?? .unknown
    }

    private static func marked(
        _ parts: [BatchResponsePart], _ identification: ReplayGuard.Identification?
    ) -> [BatchResponsePart] {
        guard identification != nil, finality(of: parts) == .final else { return parts }
        return parts.map { part in
            var part = part
            part.headers.removeAll { $0.name.lowercased() == "repeatability-result" }
            part.headers.append(BatchHeader("Repeatability-Result", "accepted"))
            return part
        }
    }

    private static func refusals(
        of unit: [BatchRequestPart], _ error: ODataError
    ) async throws -> [BatchResponsePart] {
        let (response, body) = DestinationFailure.response(error)
        let headers = response.headerFields.map { BatchHeader($0.name.rawName, $0.value) }
        let bytes = try await body.collect(limit: ReplayGuard.bodyLimit)
        return unit.map {
            BatchResponsePart(
                id: $0.id, status: response.status.code, headers: headers, body: bytes,
                atomicityGroup: $0.atomicityGroup)
        }
    }
}

/// The former responses of a batch, to which later requests refer.
private struct Outcomes {
    private struct Outcome {
        var isDone: Bool
        var location: String?
    }

    private var known: [String: Outcome] = [:]

    /// Notes the responses to a unit.
    mutating func note(_ unit: [BatchRequestPart], _ parts: [BatchResponsePart]) {
        for request in unit {
            guard let id = request.id else { continue }
            let part = parts.first { $0.id == id }
            let isDone = part.map { $0.status < 400 } ?? false
            let place = ["Location", "OData-EntityId"].lazy.compactMap { part?.headers.value(of: $0) }.first
            known[id] = Outcome(isDone: isDone, location: place ?? (request.method == "POST" ? nil : request.url))
            guard let group = request.atomicityGroup else { continue }
            known[group] = Outcome(isDone: isDone && known[group]?.isDone ?? true, location: nil)
        }
    }

    /// Returns the requests of a unit without references to former units.
    ///
    /// - Throws: ``ODataError`` 424 if a former request has failed, 501 for a reference that only a back end resolves.
    func resolved(_ unit: [BatchRequestPart]) throws(ODataError) -> [BatchRequestPart] {
        let own = Set(unit.compactMap(\.id) + unit.compactMap(\.atomicityGroup))
        var result: [BatchRequestPart] = []
        for request in unit {
            var request = request
            for id in request.dependsOn where !own.contains(id) {
                guard known[id]?.isDone ?? false else {
                    throw ODataError(
                        status: 424, code: "FailedDependency", message: "The request \(id) before it has failed.",
                        target: "dependsOn")
                }
            }
            request.dependsOn.removeAll { !own.contains($0) }
            if let (id, rest) = Self.reference(in: request.url), !own.contains(id) {
                guard let location = known[id]?.location else { throw Self.unresolved(id) }
                request.url = location + rest
            }
            for id in known.keys where !own.contains(id) {
                guard !Self.contains(id, in: request) else { throw Self.unresolved(id) }
            }
            result.append(request)
        }
        return result
    }

    /// Returns the id at the beginning of a URL such as `$1/Items`, with the rest.
    private static func reference(in url: String) -> (id: String, rest: String)? {
        let path = url.hasPrefix("/$") ? url.dropFirst() : url[...]
        guard path.hasPrefix("$") else { return nil }
        let id = path.dropFirst().prefix { $0 != "/" && $0 != "?" }
        guard !id.isEmpty, !["batch", "metadata", "crossjoin", "all", "entity"].contains(id) else { return nil }
        return (String(id), String(path.dropFirst(id.count + 1)))
    }

    /// Returns whether a condition or a bound link of a request refers to an id.
    private static func contains(_ id: String, in request: BatchRequestPart) -> Bool {
        if let condition = request.condition, condition.contains("$\(id)") { return true }
        let body = String(decoding: request.body, as: UTF8.self)
        guard body.contains("bind\"") || body.contains("@id\"") || body.contains("@odata.id\"") else { return false }
        return body.contains("\"$\(id)\"") || body.contains("\"$\(id)/")
    }

    private static func unresolved(_ id: String) -> ODataError {
        ODataError(
            status: 501, code: "NotImplemented",
            message: "A repeatable request cannot refer to \(id) in this way. Put both into one atomicity group.")
    }
}
