import ODataModel
import ODataService

/// The pages that were read, their entities, and the times at which they were received.
actor PageIndex {
    enum Address: Hashable {
        case entity(String, EntityKey)
        /// A page of a set, identified by its query or link.
        case page(String, String)

        var set: String {
            switch self {
            case .entity(let set, _), .page(let set, _): set
            }
        }
    }

    struct Page {
        var keys: [EntityKey]
        var count: Int64?
        var nextLink: String?
        /// The first page of the set, if all pages of the set are being read.
        var start: Address?
    }

    /// The page to which a next link leads.
    struct Continuation {
        var address: Address
        var start: Address?
    }

    /// The maximum number of addresses; the least recently used one is removed first.
    static let capacity = 10_000

    /// The time at which the service returned the content of an address; `nil` for pages of an earlier launch.
    private var times = LeastRecentlyUsed<Address, ContinuousClock.Instant?>()
    private var pages: [Address: Page] = [:]
    private var continuations: [String: Continuation] = [:]
    private var wholeSets: [String: [EntityKey]] = [:]
    private let now: @Sendable () -> ContinuousClock.Instant

    init(now: @escaping @Sendable () -> ContinuousClock.Instant) { self.now = now }

    /// Records that the service has returned the content of an address.
    ///
    /// - Returns: The addresses that were removed for lack of room.
    @discardableResult
    func note(_ address: Address) -> [Address] { note(address, at: now()) }

    private func note(_ address: Address, at time: ContinuousClock.Instant?) -> [Address] {
        times.set(time, for: address)
        var gone: [Address] = []
        while times.count > Self.capacity, let oldest = times.oldest() {
            remove(oldest)
            gone.append(oldest)
        }
        return gone
    }

    private func remove(_ address: Address) {
        times.remove(address)
        guard let link = pages.removeValue(forKey: address)?.nextLink else { return }
        continuations[link] = nil
    }

    func isFresh(_ address: Address, within time: Duration) -> Bool {
        guard let known = times.use(address), let then = known else { return false }
        return then.duration(to: now()) < time
    }

    /// Stores a page that the service has returned.
    ///
    /// - Returns: The addresses that were removed for lack of room.
    func keep(_ page: Page, at address: Address) -> [Address] {
        set(page, at: address)
        var gone = note(address)
        for key in page.keys { gone += note(.entity(address.set, key)) }
        return gone
    }

    /// Stores a page of an earlier launch, which is not fresh.
    func restore(_ page: Page, at address: Address) {
        set(page, at: address)
        _ = note(address, at: nil)
    }

    private func set(_ page: Page, at address: Address) {
        pages[address] = page
        guard let link = page.nextLink else { return }
        continuations[link] = Continuation(address: .page(address.set, link), start: page.start)
    }

    func page(at address: Address) -> Page? { pages[address] }

    /// Returns the page to which a link leads, or `nil` if no known page contains the link.
    func continuation(of link: String) -> Continuation? { continuations[link] }

    /// Returns the keys of all pages from a start, in their order, or `nil` if a page is missing.
    func keys(from start: Address) -> [EntityKey]? {
        var keys: [EntityKey] = []
        var address = start
        // The links of a service may form a cycle.
        for _ in 0...pages.count {
            guard let page = pages[address], page.start == start else { return nil }
            keys += page.keys
            guard let link = page.nextLink else { return keys }
            address = .page(start.set, link)
        }
        return nil
    }

    func wholeSet(_ set: String) -> [EntityKey]? { wholeSets[set] }

    func setWholeSet(_ keys: [EntityKey], of set: String) { wholeSets[set] = keys }

    func forget(_ set: String) {
        wholeSets[set] = nil
        for address in times.inOrder.map(\.key) where address.set == set { remove(address) }
    }

    func forgetAll() {
        times.removeAll()
        pages = [:]
        continuations = [:]
        wholeSets = [:]
    }
}
