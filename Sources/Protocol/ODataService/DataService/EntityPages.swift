import ODataModel
import ODataQuery

/// The pages of a collection or delta, each of which is requested on demand (OData Protocol 4.01, 11.2.6.7
/// *Server-Driven Paging*).
///
/// ```swift
/// for try await page in service.pages(ODataURL(set: "Orders")) {
///     show(page.entities)
/// }
/// ```
public struct EntityPages: AsyncSequence, Sendable {
    /// A page.
    public typealias Element = EntityPage

    /// The maximum number of pages that are read ahead.
    public static let maxLookAhead = 8

    let service: DataService
    let first: ODataRequest
    let lookAhead: Int

    init(service: DataService, first: ODataRequest, lookAhead: Int = 0) {
        self.service = service
        self.first = first
        self.lookAhead = Swift.min(Swift.max(0, lookAhead), Self.maxLookAhead)
    }

    /// Returns the same pages, but reads the next ones while the caller processes the current one.
    ///
    /// - Parameter pages: the number of pages to read ahead, 0 to ``maxLookAhead``. The pages are still read one
    ///   after the other, because each needs the link of the page before it.
    public func lookingAhead(_ pages: Int = 1) -> EntityPages {
        EntityPages(service: service, first: first, lookAhead: pages)
    }

    /// An iterator that requests one page after the other.
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

        /// Returns the next page; `nil` after the last one.
        ///
        /// - Throws: the errors of the provider, after which another call requests the same page again.
        ///   ``ODataError`` with status 502 if a page links back to an earlier one.
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
                // The next call retries the page that failed.
                reader = nil
                throw error
            }
        }
    }

    /// Returns an iterator that starts at the first page.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(service: service, lookAhead: lookAhead, request: first)
    }

    /// The entities of all pages, one after the other. Only one page is held at a time.
    public var entities: EntityRows { EntityRows(pages: self) }
}

/// Reads pages into a bounded queue while its owner processes earlier ones; stops when it is released.
private final class PageReader: Sendable {
    private let pages: AsyncThrowingStream<(EntityPage, ODataRequest?), any Error>
    private let taken: AsyncStream<Void>.Continuation
    private let task: Task<Void, Never>

    init(service: DataService, request: ODataRequest, ahead: Int) {
        let (pages, output) = AsyncThrowingStream<(EntityPage, ODataRequest?), any Error>.makeStream()
        let (permits, taken) = AsyncStream<Void>.makeStream()
        // One permit for the page that the owner waits for, and one for each page read ahead.
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
            // The iterator of a cancelled task ends without an error.
            if page == nil { try Task.checkCancellation() }
            taken.yield()
            return page
        } onCancel: {
            task.cancel()
        }
    }
}

extension EntityPage {
    /// The number of rows on the page, including removed ones.
    fileprivate var changeCount: Int { entities.count + removed.count }

    /// Returns the request for the next page; `nil` for the last page.
    fileprivate func next(after request: ODataRequest) -> ODataRequest? {
        nextLink.map { link in
            // The URL stays beside the link, so that a page without a context URL can be decoded.
            var next = request
            next.link = link
            // The following pages of an action's result are read with GET (OData Protocol 4.01, 11.2.6.7).
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

    /// An iterator over the entities.
    public struct AsyncIterator: AsyncIteratorProtocol {
        var pages: EntityPages.AsyncIterator
        var page: [ODataEntity] = []
        var position = 0

        /// Returns the next entity; `nil` after the last one.
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

    /// Returns an iterator that starts at the first entity.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(pages: pages.makeAsyncIterator()) }
}
