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

    let service: DataService
    let first: ODataRequest

    /// Asks for one page after the other.
    public struct AsyncIterator: AsyncIteratorProtocol {
        let service: DataService
        var request: ODataRequest?

        /// The next page; `nil` after the last.
        ///
        /// - Throws: what the provider throws; the same page is asked for again by another call.
        public mutating func next() async throws -> EntityPage? {
            guard let request else { return nil }
            let page = try await service.page(request)
            self.request = page.nextLink.map { link in
                // The URL stays beside the link, so that a reader without context URL still knows the type.
                var next = request
                next.link = link
                return next
            }
            return page
        }
    }

    /// An iterator from the first page on.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(service: service, request: first) }

    /// The entities of all pages, one after the other, holding one page at a time.
    public var entities: EntityRows { EntityRows(pages: self) }
}

/// The entities of a collection, read page by page.
public struct EntityRows: AsyncSequence, Sendable {
    /// An entity.
    public typealias Element = Entity

    let pages: EntityPages

    /// Gives one entity after the other.
    public struct AsyncIterator: AsyncIteratorProtocol {
        var pages: EntityPages.AsyncIterator
        var page: [Entity] = []
        var position = 0

        /// The next entity; `nil` after the last.
        public mutating func next() async throws -> Entity? {
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
