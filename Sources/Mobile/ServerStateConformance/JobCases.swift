import ServerState

extension ServerStateConformance {
    static let jobs: [Case] = [
        Case("A due job is given to one node only, until its lease ends") { bench in
            let store = bench.state.jobs
            try await store.add(NewJob(kind: .refresh, target: "1"))
            async let first = store.claim([.refresh], limit: 5, lease: .seconds(30), owner: "a")
            async let second = store.claim([.refresh], limit: 5, lease: .seconds(30), owner: "b")
            let claimed = try await first + second
            try require(claimed.count, is: 1, "one node has the job")
            try require(try await store.claim([.sweep], limit: 5, lease: .seconds(30), owner: "c"), is: [], "the kind")
            bench.clock.advance(by: .seconds(31))
            let again = try await store.claim([.refresh], limit: 5, lease: .seconds(30), owner: "c")
            try require(again.count, is: 1, "the lease has ended by the database's clock")
            try require(again[0].fence > claimed[0].fence, "the fence grows")
            try require(again[0].tries, is: 1, "an ended lease counts as a try")
            try require(try await store.extend(claimed[0], by: .seconds(30)) == false, "the old lease is lost")
            try require(try await store.finish(claimed[0], .done) == false, "the old node ends nothing")
            try require(try await store.finish(again[0], .done), "the new node ends the job")
            try require(try await store.all(), is: [], "the job is done")
        },
        Case("A claim takes at most its limit, oldest first (point 20)") { bench in
            for index in 0..<30 {
                try await bench.state.jobs.add(
                    NewJob(kind: .refresh, target: "\(index)", dueAt: bench.clock.now - .seconds(30 - Int64(index))))
            }
            let claimed = try await bench.state.jobs.claim(
                [.refresh], limit: 20, lease: .seconds(30), owner: "a")
            try require(claimed.map(\.target), is: (0..<20).map { "\($0)" }, "twenty, oldest first")
        },
        Case("A job that is added while it runs, runs once more") { bench in
            let store = bench.state.jobs
            try await store.add(NewJob(kind: .refresh, target: "1"))
            let job = try unwrap(
                try await store.claim([.refresh], limit: 1, lease: .seconds(30), owner: "a").first, "a job")
            try await store.add(NewJob(kind: .refresh, target: "1"))
            try require(
                try await store.claim([.refresh], limit: 1, lease: .seconds(30), owner: "b"), is: [], "not at once")
            _ = try await store.finish(job, .done)
            let again = try await store.claim([.refresh], limit: 1, lease: .seconds(30), owner: "b")
            try require(again.count, is: 1, "once more")
            _ = try await store.finish(again[0], .done)
            try require(try await store.all(), is: [], "and then no more")
        },
        Case("A failed job waits for its delay, and after ten tries for an operator") { bench in
            let store = bench.state.jobs
            try await store.add(NewJob(kind: .refresh, target: "1"))
            for round in 1...10 {
                let job = try await store.claim([.refresh], limit: 1, lease: .seconds(30), owner: "a").first
                guard let job else { throw ServerStateViolation(description: "try \(round)") }
                _ = try await store.finish(job, .failed(reason: "because", retryAfter: .seconds(60)))
                try require(
                    try await store.claim([.refresh], limit: 1, lease: .seconds(30), owner: "a"), is: [], "the delay")
                bench.clock.advance(by: .seconds(61))
            }
            try require(
                try await store.claim([.refresh], limit: 1, lease: .seconds(30), owner: "a"), is: [], "it waits")
            try require(try await store.all().map(\.error), is: ["because"], "the reason is told")
            try await store.add(NewJob(kind: .refresh, target: "1"))
            try require(
                try await store.claim([.refresh], limit: 1, lease: .seconds(30), owner: "a").count, is: 1,
                "an operator adds it again")
        },
        Case("A returned lease is no try") { bench in
            let store = bench.state.jobs
            try await store.add(NewJob(kind: .refresh, target: "1"))
            let job = try unwrap(
                try await store.claim([.refresh], limit: 1, lease: .seconds(30), owner: "a").first, "a job")
            _ = try await store.finish(job, .returned)
            let again = try await store.claim([.refresh], limit: 1, lease: .seconds(30), owner: "b")
            try require(again.map(\.tries), is: [0], "another node has it at once")
        },
        Case("A payload is for one run, and one that is added meanwhile is for the next") { bench in
            let store = bench.state.jobs
            try await store.add(NewJob(kind: .refresh, target: "1", payload: [1]))
            for added in [[2], nil] as [[UInt8]?] {
                let job = try unwrap(
                    try await store.claim([.refresh], limit: 1, lease: .seconds(30), owner: "a").first, "a job")
                if let added { try await store.add(NewJob(kind: .refresh, target: "1", payload: added)) }
                _ = try await store.finish(job, .again(at: bench.clock.now))
                try require(try await store.all().map(\.payload), is: [added], "the payload of the next run")
            }
        },
        Case("A fence of an old incarnation ends no job (point 14)") { bench in
            try await bench.state.jobs.add(NewJob(kind: .refresh, target: "1"))
            let job = try unwrap(
                try await bench.state.jobs.claim([.refresh], limit: 1, lease: .seconds(30), owner: "a").first, "a job")
            _ = try await bench.state.beginIncarnation()
            try require(try await bench.state.jobs.finish(job, .done) == false, "nothing was written")
        },
        Case("Nodes are seen for five minutes") { bench in
            try await bench.state.nodes.beat("a", build: "1", isDraining: false)
            try await bench.state.nodes.beat("b", build: "1", isDraining: false)
            try await bench.state.nodes.leave("b")
            bench.clock.advance(by: .seconds(60))
            try await bench.state.nodes.beat("a", build: "1", isDraining: true)
            let nodes = try await bench.state.nodes.all()
            try require(nodes.map(\.id), is: ["a"], "one node")
            try require(nodes.map(\.isDraining), is: [true], "it ends")
            bench.clock.advance(by: .seconds(301))
            try require(try await bench.state.nodes.all(), is: [], "it is gone")
        },
    ]

    private static func makeRequest(
        _ bench: Bench, id: String = "1", hash: [UInt8] = [1], owner: [UInt8] = [5], firstSent: ServerInstant? = nil
    ) -> ReplayRequest {
        let moment = firstSent ?? bench.clock.now
        return ReplayRequest(
            key: ReplayKey(owner: owner, requestID: id, firstSent: moment), hash: hash, firstSent: moment, node: "a",
            lease: .seconds(60))
    }

    static let replays: [Case] = [
        Case("A repeatable request is forwarded once, and its answer is given again") { bench in
            let store = bench.state.replays
            let request = makeRequest(bench)
            async let first = store.begin(request)
            async let second = store.begin(request)
            let decisions = try await [first, second]
            try require(decisions.contains(.underWay), "the other one is told that it is under way")
            let fences = decisions.compactMap { decision -> Fence? in
                if case .forward(let fence) = decision { fence } else { nil }
            }
            try require(fences.count, is: 1, "one is forwarded")
            let answer = ReplayAnswer(status: 201, fields: [1], body: [2])
            try require(try await store.finish(request.key, fence: fences[0] + 1, answer) == false, "another fence")
            try require(try await store.finish(request.key, fence: fences[0], answer), "the answer is stored")
            try require(try await store.begin(request), is: .answered(answer), "it is given again")
            try require(
                try await store.begin(makeRequest(bench, hash: [2])), is: .mismatch, "another content (point 12)")
        },
        Case("The same id of another owner is another request (point 12)") { bench in
            guard case .forward = try await bench.state.replays.begin(makeRequest(bench)),
                case .forward = try await bench.state.replays.begin(makeRequest(bench, owner: [6]))
            else { throw ServerStateViolation(description: "both are forwarded") }
        },
        Case("The requests of an erased owner are forgotten with their responses") { bench in
            let store = bench.state.replays
            let (own, other) = (makeRequest(bench), makeRequest(bench, owner: [6]))
            for request in [own, other] {
                guard case .forward(let fence) = try await store.begin(request) else {
                    throw ServerStateViolation(description: "it is forwarded")
                }
                _ = try await store.finish(request.key, fence: fence, ReplayAnswer(status: 204, fields: [], body: nil))
            }
            try require(try await store.forget(owners: [own.key.owner, [9]]), is: 1, "one request")
            guard case .forward = try await store.begin(own), case .answered = try await store.begin(other) else {
                throw ServerStateViolation(description: "that of the other owner stays")
            }
        },
        Case("After the lease the outcome is unknown, and a released request is new") { bench in
            let store = bench.state.replays
            let request = makeRequest(bench)
            guard case .forward(let fence) = try await store.begin(request) else {
                throw ServerStateViolation(description: "it is forwarded")
            }
            bench.clock.advance(by: .seconds(61))
            try require(try await store.begin(request), is: .outcomeUnknown, "the node died")
            try require(try await store.release(request.key, fence: fence), "nothing happened")
            guard case .forward = try await store.begin(request) else {
                throw ServerStateViolation(description: "it is forwarded again")
            }
        },
        Case("Requests from long ago and from the future are refused (point 12)") { bench in
            let (now, store) = (bench.clock.now, bench.state.replays)
            try require(
                try await store.begin(makeRequest(bench, firstSent: now + .seconds(86_401))), is: .fromFuture,
                "a day ahead"
            )
            try require(
                try await store.begin(makeRequest(bench, firstSent: now - .seconds(51 * 86_400))), is: .expired,
                "51 days ago")
        },
        Case("A request from before the incarnation has an unknown outcome (point 4)") { bench in
            let sent = bench.clock.now
            bench.clock.advance(by: .seconds(600))
            _ = try await bench.state.beginIncarnation()
            let store = bench.state.replays
            try require(try await store.begin(makeRequest(bench, firstSent: sent)), is: .outcomeUnknown, "from before")
            guard case .forward = try await store.begin(makeRequest(bench, id: "2")) else {
                throw ServerStateViolation(description: "a new one is forwarded")
            }
        },
        Case("A value is used once (point 26)") { bench in
            let end = bench.clock.now + .seconds(60)
            try require(try await bench.state.once.use([1], .proof, until: end), "the first time")
            try require(try await bench.state.once.use([1], .proof, until: end) == false, "not again")
            try require(try await bench.state.once.use([1], .captcha, until: end), "another kind")
            try require(try await bench.state.once.count([1], .captcha, until: end), is: 2, "attempts are counted")
        },
    ]
}
