import ODataModel
import OfflineOData

/// The state of a synchronization group in the database.
public struct GroupStatus: Hashable, Sendable {
    /// Whether the first download of every subscription of the group is complete. A group without subscriptions is not
    /// loaded. A subscription that follows a personalization key without a value does not count.
    public var isLoaded: Bool
    /// The time of the oldest last download of its subscriptions; `nil` before all of them were downloaded.
    public var lastDownload: ODataDateTimeOffset?
    /// The number of changes that are held, wait, are on their way or were refused.
    public var pendingCount: Int
}

extension PackageDatabase {
    /// Returns the state of a synchronization group.
    ///
    /// ```swift
    /// let sales = try await crm.groupStatus(.sales)
    /// print(sales.isLoaded, sales.lastDownload as Any, sales.pendingCount)
    /// ```
    public func groupStatus(_ group: GroupName<Package>) async throws -> GroupStatus {
        let status = try await store.observe.status()
        let names = Set(try await keeper.wanted([group.rawValue]).queries.map(\.name))
        let queries = status.queries.filter { names.contains($0.name) }
        let requests = status.held + status.pending + status.failed
        let downloads = queries.compactMap(\.lastDownload)
        return GroupStatus(
            isLoaded: !queries.isEmpty && queries.allSatisfy(\.isLoaded),
            lastDownload: downloads.count == queries.count ? downloads.min() : nil,
            pendingCount: requests.count { ($0.options.category ?? package.defaultGroup) == group.rawValue })
    }
}
