import Foundation

/// A back end that the application may use, with the defining queries that its operator has prepared.
///
/// ```swift
/// for destination in try await session.destinations() {
///     show("\(destination.name): \(destination.queries.map(\.name))")
/// }
/// ```
public struct OfferedDestination: Sendable, Hashable, Codable {
    /// A defining query.
    public struct Query: Sendable, Hashable, Codable {
        /// The name of the query.
        public let name: String
        /// The query, such as `Orders?$filter=Open`.
        public let query: String
        /// The group with which the query is synchronized.
        public let group: String
        /// The time between two refreshes at the server, in minutes.
        public let refreshMinutes: Int
        /// Whether streams are downloaded.
        public let hasStreams: Bool

        private enum CodingKeys: String, CodingKey {
            case name = "Name"
            case query = "Query"
            case group = "Group"
            case refreshMinutes = "RefreshInterval"
            case hasStreams = "Streams"
        }
    }

    /// The name of the destination; see ``MobileSession/serviceRoot(ofDestination:)``.
    public let name: String
    /// The version of OData: `v2` or `v4`.
    public let dialect: String
    /// The defining queries.
    public let queries: [Query]

    private enum CodingKeys: String, CodingKey {
        case name = "Name"
        case dialect = "Dialect"
        case queries = "Queries"
    }
}

extension MobileSession {
    private static let record = "destinations"

    /// Returns the destinations of the application: those that the server offers now, or without a network those of the
    /// last exchange.
    ///
    /// - Throws: ``MobileError``: `notRegistered`, `locked`, and `unreachable` before the first exchange.
    public func destinations() async throws(MobileError) -> [OfferedDestination] {
        do throws(MobileError) {
            let answer = try await wire.document(.get, "Destinations")
            guard let page = try? JSONDecoder().decode(DestinationPage.self, from: Data(answer.bytes)) else {
                throw .invalidAnswer(detail: "the destinations are not as expected")
            }
            try await records.set(page.value, Self.record)
            return page.value
        } catch .unreachable(let host, let reason, let isRetried) {
            guard let known: [OfferedDestination] = try await records.value(Self.record) else {
                throw .unreachable(host: host, reason: reason, isRetried: isRetried)
            }
            return known
        }
    }
}

private struct DestinationPage: Decodable {
    var value: [OfferedDestination]
}
