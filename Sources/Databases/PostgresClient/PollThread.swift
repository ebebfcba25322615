import Foundation
import Synchronization

/// The thread that watches all connections of a client with `poll(2)`.
final class PollThread: Sendable {
    private struct Inbox {
        var orders: [Order] = []
        var isClosed = false
    }

    private let inbox = Mutex(Inbox())
    private let reading: Int32
    private let writing: Int32
    private let ended = DispatchSemaphore(value: 0)
    private let notices: Notices
    private let made = Atomic<Int>(0)

    /// The number of connections that were made so far.
    var connections: Int { made.load(ordering: .acquiring) }

    init(_ configuration: PostgresConfiguration, notices: Notices) throws(PostgresError) {
        var ends: [Int32] = [0, 0]
        guard pipe(&ends) == 0 else { throw .misused(reason: "no pipe can be made") }
        for end in ends {
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
        }
        (reading, writing) = (ends[0], ends[1])
        self.notices = notices
        let thread = Thread { self.run(configuration) }
        thread.name = "outpost.postgres"
        thread.start()
    }

    /// Posts an order, and wakes the thread if it may sleep.
    ///
    /// - Returns: `false` if the thread has ended.
    @discardableResult
    func post(_ order: Order) -> Bool {
        let (isTaken, isFirst) = inbox.withLock { inbox in
            guard !inbox.isClosed else { return (false, false) }
            inbox.orders.append(order)
            return (true, inbox.orders.count == 1)
        }
        if isFirst { wake() }
        return isTaken
    }

    /// Ends the thread.
    func close() async {
        let isFirst = inbox.withLock { inbox in
            defer { inbox.isClosed = true }
            return !inbox.isClosed
        }
        guard isFirst else { return }
        wake()
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                self.ended.wait()
                continuation.resume()
            }
        }
    }

    private func count() { made.wrappingAdd(1, ordering: .acquiringAndReleasing) }

    private func wake() {
        var byte: UInt8 = 1
        _ = write(writing, &byte, 1)
    }

    private func run(_ configuration: PostgresConfiguration) {
        var pool = LinkPool(
            configuration, post: { [weak self] in self?.post($0) ?? false },
            notify: { [notices] in notices.deliver($0) },
            connected: { [weak self] in self?.count() })
        while true {
            let (orders, isClosed) = inbox.withLock { inbox in
                defer { inbox.orders = [] }
                return (inbox.orders, inbox.isClosed)
            }
            for order in orders { pool.take(order) }
            guard !isClosed else { break }
            pool.advance()
            wait(&pool)
        }
        pool.close()
        // Orders that came between are refused, too.
        for order in inbox.withLock({ $0.orders }) { pool.take(order) }
        pool.close()
        notices.end()
        Foundation.close(reading)
        Foundation.close(writing)
        ended.signal()
    }

    /// Sleeps until a socket or an order needs the thread, and serves the sockets.
    private func wait(_ pool: inout LinkPool) {
        let links = pool.links.filter(\.isReady)
        var descriptors = [pollfd(fd: reading, events: Int16(POLLIN), revents: 0)]
        for link in links {
            let events = Int16(POLLIN) | (link.wantsWriting ? Int16(POLLOUT) : 0)
            descriptors.append(pollfd(fd: link.socket, events: events, revents: 0))
        }
        guard poll(&descriptors, nfds_t(descriptors.count), pool.patience()) > 0 else { return }
        if descriptors[0].revents != 0 {
            var bytes = [UInt8](repeating: 0, count: 64)
            while read(reading, &bytes, 64) > 0 {}
        }
        for (link, descriptor) in zip(links, descriptors.dropFirst()) where descriptor.revents != 0 {
            pool.serve(link)
        }
    }
}

/// The readers of notices.
final class Notices: Sendable {
    private struct Readers {
        var next = 0
        var isEnded = false
        var open: [Int: AsyncStream<PostgresNotice>.Continuation] = [:]
    }

    private let readers = Mutex(Readers())

    func deliver(_ notice: PostgresNotice) {
        for reader in readers.withLock({ Array($0.open.values) }) { reader.yield(notice) }
    }

    func stream() -> AsyncStream<PostgresNotice> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: PostgresNotice.self, bufferingPolicy: .bufferingNewest(1000))
        let number = readers.withLock { readers -> Int? in
            guard !readers.isEnded else { return nil }
            readers.next += 1
            readers.open[readers.next] = continuation
            return readers.next
        }
        guard let number else {
            continuation.finish()
            return stream
        }
        continuation.onTermination = { [weak self] _ in
            self?.readers.withLock { _ = $0.open.removeValue(forKey: number) }
        }
        return stream
    }

    func end() {
        let open = readers.withLock { readers in
            defer { readers = Readers(next: readers.next, isEnded: true) }
            return Array(readers.open.values)
        }
        for reader in open { reader.finish() }
    }
}
