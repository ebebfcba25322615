import ODataModel
import ODataQuery

/// The pages of a collection or delta: the next one is requested when it is asked for
/// (OData Protocol 4.01, 11.2.6.7 *Server-Driven Paging*).
///
/// ```swift
/// for try await page in service.pages(ODataURL(set: "Orders")) {
///     show(page.entities)
/// }
/// ```
public struct EntityPages: AsyncSequence, Sendable {
    /// A page.
    public typealias Element = EntityPage

    /// The most pages that are read ahead.
    public static let maxLookAhead = 8

    let service: DataService
    let first: ODataRequest
    let lookAhead: Int

    init(service: DataService, first: ODataRequest, lookAhead: Int = 0) {
        self.service = service
        self.first = first
        self.lookAhead = Swift.min(Swift.max(0, lookAhead), Self.maxLookAhead)
    }

    /// The same pages, of which the next ones are read while one is worked on.
    ///
    /// - Parameter pages: how many are read ahead, 0 to ``maxLookAhead``. Each needs the link of the one before,
    ///   so that they are read one after the other all the same.
    public func lookingAhead(_ pages: Int = 1) -> EntityPages {
        EntityPages(service: service, first: first, lookAhead: pages)
    }

    /// Asks for one page after the other.
    public struct AsyncIterator: AsyncIteratorProtocol {
        let service: DataService
        let lookAhead: Int
        var request: ODataRequest?
        private var followed = FollowedLinks()
        private var reader: PageReader?

        init(service: DataService, lookAhead: Int, request: ODataRequest?) {
            self.service = service
            self.lookAhead = lookAhead
            self.request = request
        }

        /// The next page; `nil` after the last.
        ///
        /// - Throws: what the provider throws; the same page is asked for again by another call. ``ODataError`` with
        ///   status 502 where a page leads back to an earlier one.
        public mutating func next() async throws -> EntityPage? {
            if lookAhead > 0 { return try await readAhead() }
            guard let request else { return nil }
            let page = try await service.page(request)
            let next = page.next(after: request)
            try followed.follow(next?.link, behind: page.changeCount)
            self.request = next
            return page
        }

        private mutating func readAhead() async throws -> EntityPage? {
            if reader == nil {
                guard let request else { return nil }
                reader = PageReader(service: service, request: request, ahead: lookAhead)
            }
            do {
                guard let (page, next) = try await reader?.next() else {
                    request = nil
                    return nil
                }
                request = next
                if next == nil { reader = nil }
                return page
            } catch {
                // The next call begins again where this one failed.
                reader = nil
                throw error
            }
        }
    }

    /// An iterator from the first page on.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(service: service, lookAhead: lookAhead, request: first)
    }

    /// The entities of all pages, one after the other, holding one page at a time.
    public var entities: EntityRows { EntityRows(pages: self) }
}

/// Reads pages into a queue of limited length while its owner works on earlier ones; gives up with its owner.
private final class PageReader: Sendable {
    private let pages: AsyncThrowingStream<(EntityPage, ODataRequest?), any Error>
    private let taken: AsyncStream<Void>.Continuation
    private let task: Task<Void, Never>

    init(service: DataService, request: ODataRequest, ahead: Int) {
        let (pages, output) = AsyncThrowingStream<(EntityPage, ODataRequest?), any Error>.makeStream()
        let (permits, taken) = AsyncStream<Void>.makeStream()
        // One for the page that is being waited for, and one for each that may lie ready.
        for _ in 0...ahead { taken.yield() }
        self.pages = pages
        self.taken = taken
        task = Task {
            var request: ODataRequest? = request
            var followed = FollowedLinks()
            var permit = permits.makeAsyncIterator()
            do {
                while let current = request, await permit.next() != nil {
                    let page = try await service.page(current)
                    request = page.next(after: current)
                    try followed.follow(request?.link, behind: page.changeCount)
                    output.yield((page, request))
                }
                output.finish()
            } catch {
                output.finish(throwing: error)
            }
        }
    }

    deinit {
        taken.finish()
        task.cancel()
    }

    func next() async throws -> (EntityPage, ODataRequest?)? {
        try await withTaskCancellationHandler {
            var iterator = pages.makeAsyncIterator()
            let page = try await iterator.next()
            // An iterator that is cancelled ends instead of failing.
            if page == nil { try Task.checkCancellation() }
            taken.yield()
            return page
        } onCancel: {
            task.cancel()
        }
    }
}

extension EntityPage {
    /// How many rows it brings, removed ones included.
    fileprivate var changeCount: Int { entities.count + removed.count }

    /// The request for the page behind the one that a request gave; `nil` for the last.
    fileprivate func next(after request: ODataRequest) -> ODataRequest? {
        nextLink.map { link in
            // The URL stays beside the link, so that a reader without context URL still knows the type.
            var next = request
            next.link = link
            // Behind the first page of what an action returns, too, pages are read (OData Protocol 4.01, 11.2.6.7).
            next.method = .read
            next.body = .none
            return next
        }
    }
}

/// The entities of a collection, read page by page.
public struct EntityRows: AsyncSequence, Sendable {
    /// An entity.
    public typealias Element = ODataEntity

    let pages: EntityPages

    /// Gives one entity after the other.
    public struct AsyncIterator: AsyncIteratorProtocol {
        var pages: EntityPages.AsyncIterator
        var page: [ODataEntity] = []
        var position = 0

        /// The next entity; `nil` after the last.
        public mutating func next() async throws -> ODataEntity? {
            while position >= page.count {
                guard let next = try await pages.next() else { return nil }
                page = next.entities
                position = 0
            }
            defer { position += 1 }
            return page[position]
        }
    }

    /// An iterator from the first entity on.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(pages: pages.makeAsyncIterator()) }
}
