import ODataModel
import ODataService

/// Which entities the pages that were read were made of, and when.
actor PageIndex {
    enum Address: Hashable {
        case entity(String, EntityKey)
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
    }

    /// The most addresses that are known; the one that was not used for longest goes first.
    static let capacity = 10_000

    private var times = LeastRecentlyUsed<Address, ContinuousClock.Instant>()
    private var pages: [Address: Page] = [:]
    private var wholeSets: [String: [EntityKey]] = [:]
    private let now: @Sendable () -> ContinuousClock.Instant

    init(now: @escaping @Sendable () -> ContinuousClock.Instant) { self.now = now }

    func note(_ address: Address) {
        times.set(now(), cost: 1, for: address)
        while times.count > Self.capacity, let oldest = times.oldest() {
            times.remove(oldest)
            pages[oldest] = nil
        }
    }

    func isFresh(_ address: Address, within time: Duration) -> Bool {
        guard let then = times.use(address) else { return false }
        return then.duration(to: now()) < time
    }

    func keep(_ page: EntityPage, at address: Address, isWholeSet: Bool) {
        let keys = page.entities.compactMap(\.key)
        guard keys.count == page.entities.count else { return }
        pages[address] = Page(keys: keys, count: page.count, nextLink: page.nextLink)
        if isWholeSet { wholeSets[address.set] = keys }
        note(address)
        for key in keys { note(.entity(address.set, key)) }
    }

    func page(at address: Address) -> Page? { pages[address] }
    func wholeSet(_ set: String) -> [EntityKey]? { wholeSets[set] }

    func forget(_ set: String) {
        wholeSets[set] = nil
        for address in times.inOrder.map(\.key) where address.set == set {
            times.remove(address)
            pages[address] = nil
        }
    }

    func forgetAll() {
        times.removeAll()
        pages = [:]
        wholeSets = [:]
    }
}
