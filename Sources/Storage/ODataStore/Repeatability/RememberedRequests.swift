import Foundation
import GRDB
import ODataModel
import ODataQuery
import ODataSQL
import ODataService

/// The responses to repeatable requests, so that a repeated request takes effect once and has the same response
/// (OData Repeatable Requests 1.0, 2). They are stored beside a served database or in a store.
///
/// Status, location, entity id and ETag are stored, and whether an entity was returned. A repeated request
/// returns the current state of that entity. The requests of a change set share one id and are stored by
/// position.
package enum RememberedRequests {
    /// Returns the statements that create the table.
    package static func statements(table: String) -> [String] {
        [
            """
            CREATE TABLE \(table) (
              id TEXT NOT NULL, client TEXT NOT NULL, first_sent INTEGER NOT NULL, position INTEGER NOT NULL,
              fingerprint TEXT NOT NULL, received_at INTEGER NOT NULL, answer TEXT,
              PRIMARY KEY (id, client, first_sent, position)
            ) WITHOUT ROWID
            """,
            "CREATE INDEX \(table)_received ON \(table) (received_at)",
        ]
    }

    /// A stored response.
    package struct Answer: Codable, Hashable, Sendable {
        var status: Int
        var etag: String?
        var location: String?
        var entityID: String?
        var preferencesApplied: [String]
        /// The id of the returned entity; `nil` if none was returned.
        var returned: String?
        /// The result of an action; `nil` for other requests and for actions without a result.
        var result: ActionResult?

        /// The result of an action. A repeated request returns the same value, or the current state of the same
        /// entities.
        package enum ActionResult: Codable, Hashable, Sendable {
            /// A value of the return type, as JSON.
            case value(String)
            /// The ids of stored entities, in order.
            case entities([String], isCollection: Bool)
            /// Entities that are not stored.
            case transient([Transient], isCollection: Bool)
            /// The entities at a URL.
            case query(String)
        }

        /// The type of an entity that is not stored, and its properties as JSON.
        package struct Transient: Codable, Hashable, Sendable {
            var type: String
            var properties: String
        }

        /// Creates the stored response of an action.
        init(_ result: OperationResult) {
            status = 204
            preferencesApplied = []
            switch result {
            case .none: return
            case .value(let value): self.result = .value(StoredJSON.encode(value) ?? "null")
            case .entity(let entity): self.result = Self.entities([entity], isCollection: false)
            case .entities(let entities): self.result = Self.entities(entities, isCollection: true)
            case .query(let url): self.result = .query(url)
            }
            status = 200
        }

        private static func entities(_ entities: [ODataEntity], isCollection: Bool) -> ActionResult {
            let ids = entities.compactMap(\.control.id)
            if ids.count == entities.count { return .entities(ids, isCollection: isCollection) }
            let transient = entities.map {
                Transient(type: $0.shape.name.description, properties: StoredJSON.encode(.complex($0)) ?? "null")
            }
            return .transient(transient, isCollection: isCollection)
        }

        package init(_ response: ODataResponse) {
            status = response.status
            etag = response.etag
            location = response.location
            entityID = response.entityID
            preferencesApplied = response.preferencesApplied
            if case .entity(let entity) = response.body { returned = entity.control.id }
        }
    }

    /// The knowledge about a request.
    package enum Memory: Sendable {
        /// The request is unknown and must be executed.
        case new
        /// The request was executed; the responses are in the order of the change set.
        case answered([Answer])
        /// The outcome is unknown: someone else has changed the rows that the request would change.
        case inDoubt
    }

    /// Looks up a request by its id, regardless of the time of its first transmission. A copy of the client's
    /// store does not know when the original store has sent the request (OData Repeatable Requests 1.0, 2.1.1
    /// and 4).
    ///
    /// - Throws: ``ODataError`` 400 if the id was used for another request.
    package static func find(_ request: RepeatableRequest, fingerprint: String, in side: SideTables) throws -> Memory {
        var rows = try rows(request, client: request.client, in: side)
        if rows.isEmpty, let former = request.former, former.client != request.client {
            // Earlier versions stored responses without the principal.
            rows = try Self.rows(request, client: former.client, in: side).filter { !Self.isCurrent($0) }
        }
        guard let first = rows.first else { return .new }
        let known = isCurrent(first) ? fingerprint : request.former?.fingerprint
        guard first["fingerprint"] == known else {
            throw ODataError(
                status: 400, code: "RepeatabilityMismatch",
                message: "The id \(request.id) was used for another request.", target: "Repeatability-Request-ID",
                repeatabilityResult: .rejected)
        }
        let texts = rows.map { $0["answer"] as String? }
        guard !texts.contains(nil) else { return .inDoubt }
        return .answered(
            try texts.compactMap { $0 }.map { try JSONDecoder().decode(Answer.self, from: Data($0.utf8)) })
    }

    private static func rows(_ request: RepeatableRequest, client: String, in side: SideTables) throws -> [Row] {
        try Row.fetchAll(
            side.database,
            sql: """
                SELECT fingerprint, answer FROM \(side.schema).\(side.requests)
                WHERE id = ?1 AND client = ?2 AND first_sent = (
                  SELECT first_sent FROM \(side.schema).\(side.requests) WHERE id = ?1 AND client = ?2
                  ORDER BY first_sent = ?3 DESC, first_sent LIMIT 1)
                ORDER BY position
                """, arguments: [request.id, client, request.firstSent])
    }

    /// Returns whether a row has a fingerprint of the current format.
    private static func isCurrent(_ row: Row) -> Bool {
        (row["fingerprint"] as String?)?.hasPrefix(fingerprintPrefix) ?? false
    }

    /// Stores the responses of a request; `nil` marks its outcome as unknown. Responses older than `lifetime`
    /// are removed. If the clock of the client is fast, its responses stay until a repeated request would be
    /// refused as too old.
    package static func keep(
        _ request: RepeatableRequest, fingerprint: String, answers: [Answer]?, now: Int64, lifetime: Int64,
        in side: SideTables
    ) throws {
        try side.database.execute(
            sql: "DELETE FROM \(side.schema).\(side.requests) WHERE received_at < ?1 AND first_sent <= ?1",
            arguments: [now - lifetime])
        let statement = try side.database.cachedStatement(
            sql: "INSERT OR REPLACE INTO \(side.schema).\(side.requests) VALUES (?, ?, ?, ?, ?, ?, ?)")
        let texts: [String?] = try answers.map { try $0.map(text) } ?? [nil]
        for (position, text) in texts.enumerated() {
            try statement.execute(
                arguments: [request.id, request.client, request.firstSent, position, fingerprint, now, text])
        }
    }

    private static func text(_ answer: Answer) throws -> String {
        String(decoding: try JSONEncoder().encode(answer), as: UTF8.self)
    }

    private static let fingerprintPrefix = "2-"

    /// Returns the fingerprint of requests: a digest of methods, URLs and bodies.
    package static func fingerprint(_ requests: [ODataRequest]) -> String {
        let parts = requests.flatMap { request -> [String] in
            [request.method.rawValue, request.url.urlEncoded(), request.bodyDigest ?? ""]
        }
        return fingerprintPrefix + BodyDigest.text(of: parts)
    }

    /// Returns the fingerprint in the format of earlier versions, without the bodies.
    static func formerFingerprint(_ requests: [ODataRequest]) -> String {
        var hash = QueryHash()
        for request in requests {
            hash.add(request.method.rawValue)
            hash.add(request.url.urlEncoded())
        }
        return hash.text
    }
}

extension RememberedRequests.Answer {
    /// Returns the original response with the current state of the entity.
    ///
    /// - Parameters:
    ///   - request: the repeated request.
    ///   - read: a closure that answers a read request.
    package func response(
        to request: ODataRequest, _ read: (ODataRequest) async throws -> ODataResponse
    ) async throws -> ODataResponse {
        var response = ODataResponse(status: status, etag: etag)
        response.isETagForeseeable = RowWriter.namesETag(request)
        response.location = location
        response.entityID = entityID
        response.preferencesApplied = preferencesApplied
        response.repeatabilityResult = .accepted
        guard let id = returned else { return response }
        do {
            var reading = ODataRequest(.read, try ODataURL(parsing: id))
            reading.context.principal = request.context.principal
            let entity = try await read(reading)
            response.body = entity.body
            response.etag = entity.etag
        } catch let error as ODataError where [401, 403, 404].contains(error.status) {
            // The entity has been deleted since, or the caller may not see it.
            response.status = 204
            response.entityID = response.entityID ?? id
        }
        return response
    }
}

extension RememberedRequests.Answer.ActionResult {
    /// Returns the result of an action again: the same value, or the current state of the entities. Deleted
    /// entities are omitted.
    ///
    /// - Parameters:
    ///   - operation: the action.
    ///   - transaction: the transaction in which the entities are read.
    func result(of operation: ODataOperation, in transaction: ServiceTransaction) throws -> OperationResult {
        let model = transaction.model
        switch self {
        case .value(let text):
            return .value(try StoredJSON.decode(text, as: operation.returnType ?? .untyped("Edm.Untyped"), in: model))
        case .query(let url): return .query(url)
        case .entities(let ids, let isCollection):
            let entities = try ids.compactMap { try transaction.entity($0) }
            return isCollection ? .entities(entities) : entities.first.map { .entity($0) } ?? .none
        case .transient(let items, let isCollection):
            let entities = try items.compactMap { item -> ODataEntity? in
                guard let type = QualifiedName(item.type),
                    case .complex(let entity) = try StoredJSON.decode(item.properties, as: .complex(type), in: model)
                else { return nil }
                return entity
            }
            return isCollection ? .entities(entities) : entities.first.map { .entity($0) } ?? .none
        }
    }
}

extension Repeatability {
    /// Returns the identification that all requests of a change set share; `nil` if they have none.
    package static func shared(by requests: [ODataRequest]) throws -> Repeatability? {
        let all = requests.compactMap(\.repeatability)
        guard let first = all.first else { return nil }
        guard all.count == requests.count, all.allSatisfy({ $0 == first }) else {
            throw ODataError(
                status: 400, code: "InvalidRepeatability",
                message: "The requests of a change set must share one Repeatability-Request-ID.",
                target: "Repeatability-Request-ID", repeatabilityResult: .rejected)
        }
        return first
    }
}
