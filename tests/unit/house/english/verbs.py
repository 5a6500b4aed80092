"""Verbs that may open the docstring of a function. Add a verb that is missing."""

VERBS = frozenset(
    """
    Abort Accept Account Acquire Act Activate Add Adjust Admit Advance Aggregate Align Allocate
    Allow Annotate Announce Answer Append Apply Archive Arm Arrange Ask Assemble Assert Assign
    Assume Attach Attempt Audit Authenticate Average Await Back Begin Bind Block Bound Break
    Bring Build Bundle Cache Calculate Call Cancel Cap Capture Carry Change Charge Check Choose
    Claim Classify Clean Clear Close Collapse Collect Combine Commit Compare Compile Complete
    Compose Compute Configure Confirm Connect Construct Consume Continue Convert Copy Correct
    Count Create Cut Deactivate Decide Declare Decode Decorate Deduplicate Defer Define Delay
    Delete Deliver Deploy Derive Describe Detect Determine Disable Discard Display Divide Do
    Double Download Drain Draw Drive Drop Dump Duplicate Edit Empty Enable Encode Encrypt End
    Enforce Enqueue Ensure Enter Enumerate Erase Escape Estimate Evaluate Examine Exclude
    Execute Exit Expand Expect Expire Explain Export Expose Extend Extract Fail Fake Fan Fetch
    Fill Filter Find Finish Fire Fit Fix Flag Flatten Flush Fold Follow Forbid Force Forecast
    Forget Format Forward Freeze Gather Generate Get Give Go Grant Group Guard Handle Hash Hide
    Hold Identify Ignore Import Impose Include Increase Increment Index Indicate Infer Inform
    Initialise Inject Inline Insert Inspect Install Interpret Interrupt Intersect Introduce
    Invalidate Invoke Isolate Iterate Join Judge Keep Kill Label Lay Lead Learn Leave Let Lift
    Limit Link List Listen Live Load Locate Lock Log Look Lower Make Map Mark Mask Match
    Measure Merge Migrate Mock Model Modify Monitor Mount Move Multiply Mute Name Narrow
    Normalise Note Notify Number Observe Obtain Offer Omit Open Order Override Overwrite Pack
    Pad Parametrise Parse Pass Patch Pause Perform Permit Persist Pick Place Plan Play Plot
    Poll Post Prefer Prefix Prepare Prepend Press Prevent Print Process Produce Prohibit
    Project Promote Prove Provide Prune Publish Pull Purge Push Put Quarantine Query Queue
    Quote Raise Rank Read Rebuild Receive Recompute Record Recover Redirect Redrive Reduce
    Refer Refuse Register Reject Release Reload Remember Remove Rename Render Reorder Repair
    Repeat Replace Replay Report Request Requeue Require Reroute Reschedule Reserve Reset
    Resolve Respond Restart Restore Restrict Resume Retain Retract Retrieve Retry Return Reuse
    Revert Rewrite Roll Rotate Round Route Run Sample Save Say Scale Scan Schedule Search
    Select Send Separate Serialise Serve Set Settle Share Shift Shorten Show Shuffle Sign
    Simulate Skip Sleep Slice Sort Spend Split Spread Stage Stagger Start State Step Stop Store
    Strip Submit Subscribe Substitute Subtract Suggest Sum Summarise Supersede Supply Suppress
    Suspend Switch Synthesise Tag Take Tear Tell Terminate Test Throttle Time Toggle Trace
    Track Transform Transition Translate Trigger Trim Trip Truncate Try Turn Undo Unpack
    Unsubscribe Unwrap Update Upgrade Upload Use Validate Vary Verify Visit Wait Walk Warm Warn
    Watch Weigh Withdraw Withhold Work Wrap Write Yield
    """.split()
)

_ENDS_IN_ES = ("s", "x", "z", "ch", "sh", "o")

PLURALS = frozenset(
    """
    Accounts Acts Answers Archives Attempts Blocks Bounds Breaks Builds Bundles Caches Calls
    Caps Captures Changes Charges Checks Claims Counts Delays Designs Displays Drains Draws
    Drops Duplicates Ends Exits Exports Fakes Filters Fires Fixes Flags Follows Forecasts
    Formats Grants Groups Guards Handles Hashes Imports Indexes Joins Judges Labels Limits
    Links Lists Loads Locks Logs Looks Maps Marks Masks Matches Measures Merges Models Names
    Notes Numbers Offers Orders Packs Passes Patches Pauses Permits Places Plans Plots Polls
    Posts Prefixes Presses Processes Projects Pushes Queries Queues Quotes Ranks Records
    Releases Repeats Replays Reports Requests Rolls Rounds Routes Runs Samples Scales Scans
    Schedules Searches Shares Shifts Signs Slices Sorts Splits Stages Starts States Steps Stops
    Sums Tags Tests Times Traces Tracks Tries Trips Turns Updates Uses Visits Waits Walks
    Watches Works Writes
    """.split()
)
"""Words that are plural nouns as often as verbs, so that a class may open with them."""


def _third_person(verb: str) -> str:
    if verb.endswith("y") and verb[-2] not in "aeiou":
        return f"{verb[:-1]}ies"
    return f"{verb}es" if verb.endswith(_ENDS_IN_ES) else f"{verb}s"


THIRD_PERSON = frozenset(map(_third_person, VERBS)) - PLURALS | {"Is", "Are", "Has", "Says", "Lets"}
"""Verbs in the third person, such as `Renders`."""
