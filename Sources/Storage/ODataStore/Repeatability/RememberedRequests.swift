import Foundation
import GRDB
import ODataModel
import ODataQuery
import ODataSQL
import ODataService

/// The answers to repeatable requests, kept beside a foreign database or in a store, so that a repeat acts once and is answered
/// alike (OData Repeatable Requests 1.0, 2).
///
/// Kept are status, location, entity id and ETag, and whether an entity was returned; a repeat returns that
/// entity as it is now. The requests of a change set share one id and are kept by their position in it.
package enum RememberedRequests {
    /// The statements that make a table for them.
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

    /// One answer.
    package struct Answer: Codable, Hashable, Sendable {
        var status: Int
        var etag: String?
        var location: String?
        var entityID: String?
        var preferencesApplied: [String]
        /// The id of the entity that was returned; `nil` when none was.
        var returned: String?
        /// What an action gave; `nil` for any other request, and an action that gives nothing.
        var result: ActionResult?

        /// What an action gave: a repeat gives the same value, and the same entities as they are now.
        package enum ActionResult: Codable, Hashable, Sendable {
            /// A value of the type that the action declares, as JSON.
            case value(String)
            /// Stored entities by their ids, in order.
            case entities([String], isCollection: Bool)
            /// Entities that are stored nowhere: their types, and their properties as JSON.
            case transient([Transient], isCollection: Bool)
            /// The entities at a URL.
            case query(String)
        }

        /// An entity that is stored nowhere.
        package struct Transient: Codable, Hashable, Sendable {
            var type: String
            var properties: String
        }

        /// The answer of an action.
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

    /// What is known of a request.
    package enum Memory: Sendable {
        /// Nothing: it acts now.
        case new
        /// Its answers, by position in the change set.
        case answered([Answer])
        /// It may have acted: the rows it was to change were changed by others since.
        case inDoubt
    }

    /// Looks a request up by its id, whatever it says of its first sending: a copy of the client's store does not know when the other
    /// one has sent it (OData Repeatable Requests 1.0, 2.1.1 and 4).
    ///
    /// - Throws: ``ODataError`` 400 when the id stands for another request.
    package static func find(_ request: RepeatableRequest, fingerprint: String, in side: SideTables) throws -> Memory {
        var rows = try rows(request, client: request.client, in: side)
        if rows.isEmpty, let former = request.former, former.client != request.client {
            // Kept by an earlier version, for whoever it was.
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

    /// Whether a row has a fingerprint of the present kind.
    private static func isCurrent(_ row: Row) -> Bool {
        (row["fingerprint"] as String?)?.hasPrefix(fingerprintPrefix) ?? false
    }

    /// Keeps the answers of a request; `nil` marks it as in doubt. What is older than `lifetime` is forgotten: where the clock of
    /// a client is fast, not before a repeat is refused for the time that it was first sent.
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

    /// What tells one request of a principal from another: the methods, the resources, and the digests of the bodies.
    package static func fingerprint(_ requests: [ODataRequest]) -> String {
        let parts = requests.flatMap { request -> [String] in
            [request.method.rawValue, request.url.urlEncoded(), request.bodyDigest ?? ""]
        }
        return fingerprintPrefix + BodyDigest.text(of: parts)
    }

    /// What told one request from another in earlier versions: the methods and resources.
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
    /// The answer as the first time, with the entity as it is now.
    ///
    /// - Parameters:
    ///   - request: the request that is repeated.
    ///   - read: answers a read.
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
            // It acted, yet somebody deleted the entity since, or it may not be seen.
            response.status = 204
            response.entityID = response.entityID ?? id
        }
        return response
    }
}

extension RememberedRequests.Answer.ActionResult {
    /// The result again: values as they were, entities as they are now. One that is gone since is left out.
    ///
    /// - Parameters:
    ///   - operation: the action.
    ///   - transaction: reads the entities.
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
    /// The one identification of the requests of a change set; `nil` when they have none.
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
