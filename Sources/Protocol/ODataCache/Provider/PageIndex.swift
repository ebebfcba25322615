import ODataModel
import ODataService

/// The pages that were read, the entities they were made of, and when they came.
actor PageIndex {
    enum Address: Hashable {
        case entity(String, EntityKey)
        /// A page of a set, by the query or the link that it was asked for with.
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
        /// The first page of the reading of a whole set that this page belongs to.
        var start: Address?
    }

    /// The page that a next link leads to.
    struct Continuation {
        var address: Address
        var start: Address?
    }

    /// The most addresses that are known; the one that was not used for longest goes first.
    static let capacity = 10_000

    /// When the service gave what is at an address; `nil` for pages of an earlier run.
    private var times = LeastRecentlyUsed<Address, ContinuousClock.Instant?>()
    private var pages: [Address: Page] = [:]
    private var continuations: [String: Continuation] = [:]
    private var wholeSets: [String: [EntityKey]] = [:]
    private let now: @Sendable () -> ContinuousClock.Instant

    init(now: @escaping @Sendable () -> ContinuousClock.Instant) { self.now = now }

    /// Notes that the service gave what is at an address.
    ///
    /// - Returns: The addresses that there is no more room for.
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

    /// Keeps a page that the service gave.
    ///
    /// - Returns: The addresses that there is no more room for.
    func keep(_ page: Page, at address: Address) -> [Address] {
        set(page, at: address)
        var gone = note(address)
        for key in page.keys { gone += note(.entity(address.set, key)) }
        return gone
    }

    /// Keeps a page of an earlier run, which is not fresh.
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

    /// The page that a link leads to; `nil` if no page that is known has it.
    func continuation(of link: String) -> Continuation? { continuations[link] }

    /// The entities of all pages from one on, in their order; `nil` if one of the pages is not known.
    func keys(from start: Address) -> [EntityKey]? {
        var keys: [EntityKey] = []
        var address = start
        // A service may lead in a circle.
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
