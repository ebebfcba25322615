import Foundation
import GRDB
import ODataHTTP
import ODataQuery
import ODataSQL
import ODataService

/// An optional part that the engine adds to the requests of a download (rule 39).
enum AddedPart: String, CaseIterable, Codable, Sendable {
    /// `Prefer: maxpagesize`.
    case pageSize
    /// `Prefer: track-changes`.
    case tracking
    /// `$orderby` by the key.
    case order

    /// The name of the part in a request.
    var name: String {
        switch self {
        case .pageSize: "Prefer: maxpagesize"
        case .tracking: "Prefer: track-changes"
        case .order: "$orderby"
        }
    }

    /// The combinations that are left out of a refused request, one after the other.
    static let attempts: [Set<AddedPart>] = [
        [.pageSize], [.pageSize, .tracking], [.order], [.pageSize, .tracking, .order],
    ]
}

/// The parts that a service refuses, by entity set, kept with the store.
///
/// A part counts as refused after two requests with it failed and the same requests without it succeeded. After
/// seven days it is tried again.
struct RefusedParts: Codable, Sendable {
    /// The number of refusals after which a part is left out.
    static let refusalsToLearn = 2
    /// The time for which a refusal counts, in seconds.
    static let memory: Int64 = 7 * 86_400

    private static let key = "service.refusedParts"

    struct Refusal: Codable, Sendable {
        var set: String
        var part: AddedPart
        var count: Int
        /// Seconds since 1970.
        var latest: Int64
    }

    private var refusals: [Refusal] = []

    static func stored(in database: Database) throws -> RefusedParts {
        guard let bytes = try Settings.bytes(key, in: database) else { return RefusedParts() }
        // Unreadable notes are learned again.
        return (try? JSONDecoder().decode(RefusedParts.self, from: Data(bytes))) ?? RefusedParts()
    }

    func store(in database: Database) throws {
        try Settings.set(Self.key, Array(JSONEncoder().encode(self)), in: database)
    }

    /// The parts that requests for a set leave out.
    ///
    /// - Parameter now: seconds since 1970.
    func parts(of set: String, now: Int64) -> Set<AddedPart> {
        Set(
            refusals.filter { $0.set == set && $0.count >= Self.refusalsToLearn && now - $0.latest < Self.memory }
                .map(\.part))
    }

    /// Notes that requests for a set were refused with some parts and accepted without them.
    mutating func note(_ parts: Set<AddedPart>, of set: String, now: Int64) {
        refusals.removeAll { now - $0.latest >= Self.memory }
        for part in AddedPart.allCases where parts.contains(part) {
            if let index = refusals.firstIndex(where: { $0.set == set && $0.part == part }) {
                refusals[index].count += 1
                refusals[index].latest = now
            } else {
                refusals.append(Refusal(set: set, part: part, count: 1, latest: now))
            }
        }
    }
}

extension Downloader {
    /// Requests a page. After a refusal of any status, the request is repeated without the parts that the engine
    /// has added.
    ///
    /// - Parameters:
    ///   - request: the request without an order of the engine's own.
    ///   - ordered: the same request with the order; `nil` if the engine adds none.
    ///   - set: the entity set that it reads.
    func asking<Answer>(
        _ request: ODataRequest, ordered: ODataRequest? = nil, of set: String,
        _ fetch: (ODataRequest) async throws -> Answer
    ) async throws -> Answer {
        let now = environment.instant.seconds
        let learned = try await database.read { try RefusedParts.stored(in: $0) }.parts(of: set, now: now)
        var present: Set<AddedPart> = []
        if request.preferences.maxPageSize != nil { present.insert(.pageSize) }
        if request.preferences.trackChanges { present.insert(.tracking) }
        if ordered != nil { present.insert(.order) }
        present.subtract(learned)
        func message(without left: Set<AddedPart>) -> ODataRequest {
            let left = left.union(learned)
            var message = left.contains(.order) ? request : ordered ?? request
            if left.contains(.pageSize) { message.preferences.maxPageSize = nil }
            if left.contains(.tracking) { message.preferences.trackChanges = false }
            return message
        }
        do {
            return try await fetch(message(without: []))
        } catch let refusal as ODataError where Self.maySucceedWithout(refusal) && !isEnd(refusal, of: request) {
            var tried: Set<Set<AddedPart>> = [[]]
            for attempt in AddedPart.attempts {
                let left = attempt.intersection(present)
                // An unavailable gateway is asked as few times as possible.
                if refusal.isOfCommunication, attempt != AddedPart.attempts.last { continue }
                guard tried.insert(left).inserted else { continue }
                let answer: Answer
                do {
                    answer = try await fetch(message(without: left))
                } catch is ODataError {
                    continue
                }
                try await database.write { database in
                    var parts = try RefusedParts.stored(in: database)
                    parts.note(left, of: set, now: now)
                    try parts.store(in: database)
                }
                return answer
            }
            throw refusal
        }
    }

    /// Whether a refusal may be about a part that the engine has added, and not about the user or the rate of
    /// requests.
    private static func maySucceedWithout(_ error: ODataError) -> Bool {
        ![401, 407, 429].contains(error.status) && error.retryAfter == nil
    }

    /// Whether the refusal means that a link has expired, for which the standard has a status.
    private func isEnd(_ error: ODataError, of request: ODataRequest) -> Bool {
        request.link != nil && [404, 410].contains(error.status)
    }
}
