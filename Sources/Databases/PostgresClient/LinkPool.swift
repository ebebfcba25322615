import CPostgres
import Foundation

/// The connections of a client and the callers that wait for them. Only the poll thread uses it.
struct LinkPool {
    let configuration: PostgresConfiguration
    /// Posts an order to the poll thread; `false` after its end.
    let post: @Sendable (Order) -> Bool
    let notify: @Sendable (PostgresNotice) -> Void
    /// Counts connections that were made.
    let connected: @Sendable () -> Void
    private(set) var links: [Link] = []
    private var points: [Request] = []
    private var leases: [LeaseRequest] = []
    private var channels: Set<String> = []
    /// The number of connections for transactions, which shrinks if the server has too many.
    private var workLimit: Int
    private var lastFailure = "no connection was made in time"

    /// The statements in flight of one point connection.
    private static let flightLimit = 256
    private static let shortestDelay = 50.0
    private static let longestDelay = 2000.0

    init(
        _ configuration: PostgresConfiguration, post: @escaping @Sendable (Order) -> Bool,
        notify: @escaping @Sendable (PostgresNotice) -> Void, connected: @escaping @Sendable () -> Void
    ) {
        self.configuration = configuration
        self.post = post
        self.notify = notify
        self.connected = connected
        workLimit = min(max(configuration.workConnections, 0), 8)
        let count = min(max(configuration.pointConnections, 1), 4)
        links = (0..<count).map { Link(index: $0, role: .point) }
        links += (count..<(count + workLimit)).map { Link(index: $0, role: .work) }
        links.append(Link(index: links.count, role: .signal))
    }

    // MARK: Orders

    mutating func take(_ order: Order) {
        switch order {
        case .point(let request):
            guard points.count < configuration.waitLimit else {
                request.ticket.fill(.failure(.busy(limit: configuration.waitLimit)))
                return
            }
            points.append(request)
        case .lease(let request):
            guard leases.count < configuration.waitLimit else {
                request.ticket.fill(.failure(.busy(limit: configuration.waitLimit)))
                return
            }
            leases.append(request)
        case .work(let request, let lease):
            guard let link = link(of: lease) else {
                request.ticket.fill(.failure(.connectionLost(reason: "the connection of the transaction is gone")))
                return
            }
            if !link.send(request) { lose(link) }
        case .copy(let request, let lease):
            guard let link = link(of: lease) else {
                request.ticket.fill(.failure(.connectionLost(reason: "the connection of the transaction is gone")))
                return
            }
            if !link.copy(request) { lose(link) }
        case .release(let lease): release(lease)
        case .connected(let index, let generation, let outcome): take(outcome, links[index], of: generation)
        case .listen(let channel):
            guard channels.insert(channel).inserted, let link = links.last, link.isReady else { return }
            if !link.send(Self.listen(channel)) { lose(link) }
        }
    }

    private func link(of lease: Lease) -> Link? {
        let link = links[lease.link]
        return link.isLeased && link.generation == lease.generation ? link : nil
    }

    private mutating func release(_ lease: Lease) {
        guard let link = link(of: lease) else { return }
        if link.isBusy {
            // Its caller has gone: the statement is cancelled, and the connection is not used again.
            link.cancel()
            lose(link, reason: "the caller has gone", delay: false)
        } else if link.isInTransaction {
            link.isRollingBack = true
            let request = Request(
                statements: [PostgresStatement("rollback")], deadline: .now, isInTransaction: true)
            if !link.send(request) { lose(link) }
        } else {
            link.isLeased = false
        }
    }

    private static func listen(_ channel: String) -> Request {
        let name = channel.replacing("\"", with: "\"\"")
        return Request(
            statements: [PostgresStatement("listen \"\(name)\"")], deadline: .now, isInTransaction: true)
    }

    // MARK: Connecting

    private mutating func take(_ outcome: Connected, _ link: Link, of generation: Int) {
        guard case .connecting = link.phase, link.generation == generation else {
            if case .ready(let handle) = outcome { PQfinish(handle.pointer) }
            return
        }
        switch outcome {
        case .ready(let handle):
            link.open(handle.pointer)
            connected()
            guard link.role == .signal else { return greet(link) }
            notify(.connected)
            for channel in channels.sorted() where !link.send(Self.listen(channel)) { return lose(link) }
        case .failed(let state, let reason):
            lastFailure = reason
            if state == "53300", link.role == .work { workLimit = max(workLimit / 2, 1) }
            wait(link)
        }
    }

    /// Sends the first statement. Those behind it are executed after it, on the same server.
    private mutating func greet(_ link: Link) {
        guard let greeting = configuration.greeting else { return }
        var request = Request(statements: [greeting], deadline: .now, isInTransaction: false)
        request.isGreeting = true
        if !link.send(request) { lose(link) }
    }

    /// Ends a connection, and makes it again after a delay.
    private mutating func lose(
        _ link: Link, reason: String? = nil, first: PostgresError? = nil, delay: Bool = true
    ) {
        let text = reason ?? link.reason
        lastFailure = text
        link.close(text, first: first)
        if delay { wait(link) }
    }

    private func wait(_ link: Link) {
        let longest = min(Self.shortestDelay * pow(2, Double(min(link.failures, 10))), Self.longestDelay)
        link.failures += 1
        link.phase = .waiting(.now + .milliseconds(Int(Double.random(in: Self.shortestDelay...longest + 1))))
    }

    private func connect(_ link: Link) {
        link.phase = .connecting
        let (index, generation, post) = (link.index, link.generation, post)
        Connecting(configuration: configuration, role: link.role).start { outcome in
            let isTaken = post(.connected(link: index, generation: generation, outcome))
            if !isTaken, case .ready(let handle) = outcome { PQfinish(handle.pointer) }
        }
    }

    // MARK: Events

    /// Reads from a connection that has bytes or room for them.
    mutating func serve(_ link: Link) {
        guard link.isReady else { return }
        let notify = notify
        let isAlive = link.receive { channel, payload in notify(.message(channel: channel, payload: payload)) }
        points.insert(contentsOf: link.again, at: 0)
        link.again = []
        guard isAlive else { return lose(link) }
        if link.isRollingBack, !link.isBusy {
            link.isRollingBack = false
            link.isLeased = false
        }
    }

    /// Makes connections, gives them to waiting callers, and ends statements that took too long.
    mutating func advance() {
        let now = ContinuousClock.now
        for link in links {
            switch link.phase {
            case .idle where isWanted(link): connect(link)
            case .waiting(let moment) where moment <= now:
                if isWanted(link) { connect(link) } else { link.phase = .idle }
            case .ready: limit(link, now)
            default: break
            }
        }
        givePoints(now)
        giveLeases(now)
    }

    /// Point connections are kept, the others are made when they are needed.
    private func isWanted(_ link: Link) -> Bool {
        switch link.role {
        case .point: true
        case .signal: !channels.isEmpty
        case .work:
            leases.count
                > links.count { work in
                    guard work.role == .work, work.index != link.index else { return false }
                    if case .connecting = work.phase { return true }
                    return work.isReady && !work.isLeased
                } && links.count { $0.role == .work && ($0.isReady || $0.isConnecting) } < workLimit
        }
    }

    /// Ends a connection if its first statement has had no answer for too long.
    private mutating func limit(_ link: Link, _ now: ContinuousClock.Instant) {
        guard link.isBusy, let end = end(of: link), end <= now else { return }
        link.cancel()
        lose(link, reason: "the server did not answer in time", first: .timedOut)
    }

    private func end(of link: Link) -> ContinuousClock.Instant? {
        let limit = link.role == .work ? configuration.workTimeout : configuration.pointTimeout
        return limit == .zero ? nil : link.headSince + limit + .seconds(1)
    }

    private mutating func givePoints(_ now: ContinuousClock.Instant) {
        var position = 0
        while position < points.count {
            guard !points[position].ticket.isDone else {
                position += 1
                continue
            }
            let ready = links.filter { $0.role == .point && $0.isReady && $0.load < Self.flightLimit }
            guard let link = ready.min(by: { $0.load < $1.load }) else { break }
            let request = points[position]
            position += 1
            if !link.send(request) { lose(link) }
        }
        points.removeFirst(position)
        let late = points.prefix { $0.deadline <= now }
        for request in late { request.ticket.fill(.failure(.unreachable(reason: lastFailure))) }
        points.removeFirst(late.count)
    }

    private mutating func giveLeases(_ now: ContinuousClock.Instant) {
        while let request = leases.first {
            guard !request.ticket.isDone else {
                leases.removeFirst()
                continue
            }
            guard let link = links.first(where: { $0.role == .work && $0.isReady && !$0.isLeased }) else { break }
            leases.removeFirst()
            link.isLeased = request.ticket.fill(.success(Lease(link: link.index, generation: link.generation)))
        }
        let late = leases.prefix { $0.deadline <= now }
        for request in late { request.ticket.fill(.failure(.unreachable(reason: lastFailure))) }
        leases.removeFirst(late.count)
    }

    /// The time until the next deadline in milliseconds; at most 10 s.
    func patience() -> Int32 {
        let now = ContinuousClock.now
        var next = now + .seconds(10)
        for link in links {
            if case .waiting(let moment) = link.phase { next = min(next, moment) }
            if link.isReady, link.isBusy, let end = end(of: link) { next = min(next, end) }
        }
        for moment in [points.first?.deadline, leases.first?.deadline].compactMap(\.self) { next = min(next, moment) }
        return Int32(clamping: max((next - now).milliseconds, 0) + 1)
    }

    /// Ends everything.
    mutating func close() {
        for link in links { link.close("the client is closed", first: .closed) }
        for request in points { request.ticket.fill(.failure(.closed)) }
        for request in leases { request.ticket.fill(.failure(.closed)) }
        points = []
        leases = []
    }
}

extension Link {
    var isConnecting: Bool { if case .connecting = phase { true } else { false } }
}
