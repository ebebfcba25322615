extension FeedSimulation {
    /// The rules of the token protocol. A run without one of them shows the fault that the rule prevents.
    public struct Rules: OptionSet, Sendable {
        /// The bits.
        public let rawValue: Int

        /// Creates a set from its bits.
        public init(rawValue: Int) { self.rawValue = rawValue }

        /// Numbers of a new incarnation lie above all earlier ones.
        public static let incarnations = Rules(rawValue: 1 << 0)
        /// The older rule against lost commits: a feed keeps the last head of each incarnation.
        public static let forks = Rules(rawValue: 1 << 1)
        /// Each head has a random tag, and a token names the tag of its witness (review, 3).
        public static let tags = Rules(rawValue: 1 << 2)
        /// The floor is compared with the position of each page of a delta, not only at its beginning.
        public static let floorAtEachPage = Rules(rawValue: 1 << 3)
        /// The floor is checked in the snapshot from which the page is read (review, 5).
        public static let oneSnapshot = Rules(rawValue: 1 << 4)
        /// A removal is sent only if no part of the present set has a live row of that key (review, 2a).
        public static let guardedRemovals = Rules(rawValue: 1 << 5)
        /// All rows of a part that is gone are sent as removals, first and without an upper bound (review, 2b).
        public static let wholeRemovals = Rules(rawValue: 1 << 6)
        /// Each page checks the right to its part, and skips a part without one (review, 16).
        public static let rightsAtEachPage = Rules(rawValue: 1 << 7)
        /// A read removes a part whose right ended within it, and its token no longer names the part.
        public static let forgottenParts = Rules(rawValue: 1 << 8)
        /// A refresh commits only with the newest fence.
        public static let fences = Rules(rawValue: 1 << 9)
        /// A fence contains the incarnation (review, 14).
        public static let fencesOfIncarnations = Rules(rawValue: 1 << 10)
        /// A claim writes a random name beside its fence, and the commit compares both: a restored database gives
        /// a fence again.
        public static let namedClaims = Rules(rawValue: 1 << 11)

        /// The rules of the design with its review. Tags replace ``forks``.
        public static let all: Rules = [
            .incarnations, .tags, .floorAtEachPage, .oneSnapshot, .guardedRemovals, .wholeRemovals, .rightsAtEachPage,
            .forgottenParts, .fences, .fencesOfIncarnations, .namedClaims,
        ]
    }

    /// The events that a run contains beside edits, refreshes and reads.
    public struct Faults: OptionSet, Sendable {
        /// The bits.
        public let rawValue: Int

        /// Creates a set from its bits.
        public init(rawValue: Int) { self.rawValue = rawValue }

        /// A failover loses acknowledged commits; the database has a new timeline.
        public static let failovers = Faults(rawValue: 1 << 0)
        /// An older copy of the database is put back without a new timeline.
        public static let restores = Faults(rawValue: 1 << 1)
        /// Two failovers in a minute lose the record of the first one.
        public static let doubleFailovers = Faults(rawValue: 1 << 2)
        /// Removals are pruned while devices read.
        public static let pruning = Faults(rawValue: 1 << 3)
        /// Rows move between two parts.
        public static let movingRows = Faults(rawValue: 1 << 4)
        /// The rights of devices change between reads.
        public static let changingRights = Faults(rawValue: 1 << 5)
        /// A right ends in the middle of a read and comes back before the next one.
        public static let briefLosses = Faults(rawValue: 1 << 6)
        /// A node reads the back end, stops for a while, and then commits.
        public static let slowNodes = Faults(rawValue: 1 << 7)

        /// All events.
        public static let all = Faults(rawValue: (1 << 8) - 1)
    }
}
