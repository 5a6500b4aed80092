"""`gazette accept`: show on a deployed stage that Gazette keeps its promises."""
